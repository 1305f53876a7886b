"""Takes every mail that a service sends, and tells what the mails say.

    smtp.py FOLDER

The folder has cert.pem and key.pem. Each port in the list speaks SMTP, with STARTTLS or with TLS from the first
byte, and takes any credentials. GET / on port 1080 gives the newest mail that nobody has read yet as JSON, and all
before it count as read; with ?wait=SECONDS it waits for one. Where there is none it answers 404.

    {"to": ["a@example.com"], "subject": "Hello", "words": ["Hello", "your", "code", "is", "1234"],
     "links": [{"url": "http://host/login/abc?token=def", "last": "abc", "query": {"token": "def"}}]}

A place in it (links/0/last) holds the same thing in each mail that is made of one template.
"""

import base64
import email
import email.policy
import html
import http.server
import json
import os
import re
import socket
import socketserver
import ssl
import sys
import threading
import urllib.parse

PORTS = (25, 465, 587, 1025, 2525)
READ_AT = 1080
MOST = 8 << 20  # bytes of a mail
SILENCE = 0.1  # seconds after which a client that says nothing is no TLS client

folder = sys.argv[1]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
arrived = threading.Condition()
unread = []


def told(to, data):
    """What a mail says."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    texts = []
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        text = part.get_content() if part is not None else ""
        if kind == "html":
            text = re.sub(r"""(?i)<a\s[^>]*?href\s*=\s*["']([^"']*)["'][^>]*>""", r" \1 ", text)
            text = html.unescape(re.sub(r"(?is)<(style|script|head)\b.*?</\1>|<[^>]*>", " ", text))
        texts.append(text)
    links = []
    for url in re.findall(r"""https?://[^\s<>"'\\]+""", " ".join(texts)):
        url = url.rstrip(".,;:!?)]*")
        try:
            parts = urllib.parse.urlsplit(url)
        except ValueError:
            continue
        link = {"url": url, "last": parts.path.rstrip("/").rpartition("/")[2], "query": dict(urllib.parse.parse_qsl(parts.query))}
        if link not in links:
            links.append(link)
    words = re.findall(r"[\w-]+(?:\.[\w-]+)*", re.sub(r"https?://\S+", " ", texts[0] or texts[1]))
    return {"to": to, "subject": str(message["subject"] or ""), "links": links[:20], "words": words[:400]}


class Mail(socketserver.BaseRequestHandler):
    """One client that sends mail."""

    def setup(self):
        self.request.settimeout(30)
        self.safe = False

    def secure(self):
        self.request = context.wrap_socket(self.request, server_side=True)
        self.file, self.safe = self.request.makefile("rb"), True

    def handle(self):
        try:
            self.request.settimeout(SILENCE)
            first = self.request.recv(1, socket.MSG_PEEK)
        except socket.timeout:
            first = b""
        self.request.settimeout(30)
        self.file = self.request.makefile("rb")
        try:
            if first == b"\x16":
                self.secure()
            self.talk()
        except (OSError, ValueError):
            pass  # the client is gone

    def say(self, *lines):
        self.request.sendall("".join(line + "\r\n" for line in lines).encode())

    def line(self):
        line = self.file.readline(4096)
        if not line:
            raise OSError("closed")
        return line.decode("utf-8", "replace").strip()

    def talk(self):
        self.say("220 localhost ESMTP")
        to = []
        while True:
            line = self.line()
            word, _, rest = line.partition(" ")
            word = word.upper()
            if word == "EHLO":
                more = [] if self.safe else ["250-STARTTLS"]
                self.say("250-localhost", *more, "250-SIZE %d" % MOST, "250-8BITMIME", "250-SMTPUTF8", "250 AUTH PLAIN LOGIN")
            elif word == "STARTTLS" and not self.safe:
                self.say("220 go on")
                self.secure()
                to = []
            elif word == "AUTH":
                self.auth(rest)
            elif word == "MAIL":
                to = []
                self.say("250 ok")
            elif word == "RCPT":
                found = re.search(r"<([^>]*)>", rest)
                to.append(found.group(1) if found else rest.partition(":")[2].strip())
                self.say("250 ok")
            elif word == "DATA":
                self.say("354 go on")
                self.keep(to)
                to = []
            elif word == "QUIT":
                self.say("221 bye")
                return
            elif word in ("HELO", "RSET", "NOOP", "VRFY"):
                self.say("250 ok")
            else:
                self.say("500 not known")

    def auth(self, rest):
        how, _, initial = rest.partition(" ")
        asks = {"PLAIN": [""], "LOGIN": ["Username:", "Password:"]}.get(how.upper())
        if asks is None:
            self.say("504 not known")
            return
        for ask in asks[1 if initial else 0 :]:
            self.say("334 " + base64.b64encode(ask.encode()).decode())
            self.line()
        self.say("235 ok")

    def keep(self, to):
        data = b""
        while True:
            line = self.file.readline(1 << 20)
            if not line:
                raise OSError("closed")
            if line in (b".\r\n", b".\n"):
                break
            if len(data) < MOST:
                data += line[1:] if line.startswith(b".") else line
        with arrived:
            unread.append(told(to, data))
            arrived.notify_all()
        self.say("250 ok")


class Read(http.server.BaseHTTPRequestHandler):
    """Who asks for mails."""

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        wait = min(float(query.get("wait", ["0"])[0]), 10)
        with arrived:
            arrived.wait_for(lambda: unread, wait)
            found = unread[-1] if unread else None
            unread.clear()
        body = json.dumps(found).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def main():
    servers = []
    for port in PORTS:
        try:
            servers.append(Server(("127.0.0.1", port), Mail))
        except OSError:
            print("port %d is not free" % port, flush=True)  # the service may listen there
    servers.append(Server(("127.0.0.1", READ_AT), Read))
    for server in servers:
        threading.Thread(target=server.serve_forever).start()


main()
