"""How the tests talk to the service: one request a connection, no redirects, no proxies."""

import json
import os
import socket
import time
from urllib.parse import urlsplit

import requests

URL = os.environ.get("SERVICE_URL", "http://127.0.0.1:8080").rstrip("/")
READY_SECONDS = float(os.environ.get("BENCHMINT_READY_SECONDS", "60"))
ANSWER_SECONDS = 5
ANSWER_BYTES = 16 << 20


class NoAnswer(Exception):
    """The service gave no answer. The text says how the connection ended."""


class Answer:
    """Status, headers and body of one answer."""

    def __init__(self, status, headers, content):
        self.status = status
        self.headers = headers  # lower-case names; several of one name are one a line
        self.content = content
        try:
            self.value, self.is_json = parse_json(content.decode("utf-8")), True
        except (ValueError, RecursionError):
            self.value, self.is_json = content.decode("utf-8", "replace"), False

    @property
    def media_type(self):
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


def parse_json(text):
    def refuse(word):
        raise ValueError(word + " is not JSON")

    return json.loads(text, parse_constant=refuse)


def send(method, target, headers=None, body=None, port=None):
    """Sends one request and gives the whole answer. target is a path with its query, escaped; port is another one of
    the same host."""
    url = URL if port is None else "http://%s:%d" % (urlsplit(URL).hostname, port)
    given = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "benchmint"}
    for name, value in (headers or {}).items():
        given = {k: v for k, v in given.items() if k.lower() != name.lower()}
        given[name] = value
    given["Connection"] = "close"
    with requests.Session() as session:
        session.trust_env = False
        session.headers.clear()
        encoded = {k: v.encode("utf-8", "replace") for k, v in given.items()}
        request = session.prepare_request(requests.Request(method, url, headers=encoded, data=body))
        request.url = url + target
        try:
            response = session.send(request, timeout=ANSWER_SECONDS, allow_redirects=False, stream=True)
            content = read(response)
        except requests.Timeout:
            raise NoAnswer("no answer within %d seconds" % ANSWER_SECONDS) from None
        except (requests.RequestException, OSError) as e:
            raise NoAnswer(reason(e)) from None
        found = {}
        for name, value in response.raw.headers.items():
            key = name.lower()
            found[key] = found[key] + "\n" + value if key in found else value
        return Answer(response.status_code, found, content)


def read(response):
    """Reads a body within the time and size that an answer has."""
    end, content = time.monotonic() + ANSWER_SECONDS, b""
    for part in response.iter_content(1 << 16):
        content += part
        if time.monotonic() > end:
            raise requests.Timeout()
        if len(content) > ANSWER_BYTES:
            raise requests.RequestException("the answer is longer than %d bytes" % ANSWER_BYTES)
    return content


def reason(error):
    text = str(error)
    if "timed out" in text:
        return "no answer within %d seconds" % ANSWER_SECONDS
    if "refused" in text:
        return "the connection was refused"
    if "reset" in text or "without response" in text or "IncompleteRead" in text:
        return "the connection was closed without a whole answer"
    return text[:200]


def wait_until_answers(seconds=READY_SECONDS):
    """Waits until the service answers anything. Gives "" or why it does not."""
    where = urlsplit(URL)
    end, opened = time.monotonic() + seconds, 0
    while True:
        try:
            socket.create_connection((where.hostname, where.port or 80), ANSWER_SECONDS).close()
            opened = opened or time.monotonic()
            send("GET", "/")
            return ""
        except OSError as e:
            why = "port %s: %s" % (where.port or 80, e.strerror or e)
            if opened and time.monotonic() > opened + ANSWER_SECONDS:
                return "it listened, and does not any more (%s)" % why
        except NoAnswer as e:
            why = str(e)
        if time.monotonic() > end:
            return "%s after %g seconds" % (why, seconds)
        time.sleep(0.05)


def wait_until_settled(paths, seconds=6):
    """Waits until the paths are answered without a fault of the server, twice in a row: many a
    service listens before its tables are there. Some paths never are, and so it waits no longer
    than that. Gives "" where one of them is answered well, else what goes wrong with each."""
    end, quiet = time.monotonic() + seconds, 0
    while True:
        faults = [fault(path) for path in paths[:6]]
        quiet = 0 if any(faults) else quiet + 1
        if quiet == 2 or time.monotonic() > end:
            return "; ".join(faults) if all(faults) else ""
        time.sleep(0.2)


def fault(path):
    try:
        status = send("GET", path).status
    except NoAnswer as e:
        return "GET %s: %s" % (path, e)
    return "GET %s: status %d" % (path, status) if status >= 500 else ""
