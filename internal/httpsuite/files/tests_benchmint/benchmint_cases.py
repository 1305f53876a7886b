"""The cases of cases.json: how a request is filled, and what an answer is compared with.

Each group is a scenario of its own, recorded from a fresh state of the service. Its cases build on
each other. In a request, {"$ref": "CASE:PLACE"} stands for a value of an earlier answer:

    body/article/slug      a member of the JSON body; body/0/id has an index
    header/Location        a header; header/Location/last is the last segment of its path
    cookie/session         a cookie that was set
    request/body/name      a value that was sent

What is expected of a body is a matcher, which is one of

    {"equal": VALUE}       this very value
    {"type": "string"}     any value of the type
    {"ref": "CASE:PLACE"}  equal to a value of an earlier answer
    {"form": "uuid"}       any text of the form: uuid, time, jwt, integer
    {"object": {...}}      an object with these keys and no others, each with a matcher
    {"list": [...]}        a list of these elements
    {"set": [...]}         a list of these elements in any order
"""

import json
import os
import re
from urllib.parse import quote, unquote, urlencode, urlsplit

from benchmint_service import NoAnswer, send

HERE = os.path.dirname(os.path.abspath(__file__))

FORMS = {
    "uuid": r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?(?: [A-Z]{3,4})?)?"
    r"|[A-Z][a-z]{2,8}, [0-9]{1,2}[ -][A-Z][a-z]{2}[ -][0-9]{2,4} [0-9]{2}:[0-9]{2}:[0-9]{2}(?: [A-Z]{3,4}| [+-][0-9]{4})?",
    "jwt": r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*",
    "integer": r"-?[0-9]+",
}


MAIL_PORT = 1080  # where the mails of the service are read; no case of this kind is judged


class Failure(Exception):
    """A case that does not go as it was recorded. The text says what differs."""


class Missing(Exception):
    """A reference without a value."""


def load():
    """The suite; without cases.json one that only asks whether the service answers."""
    try:
        with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
            suite = json.load(f)
    except FileNotFoundError:
        suite = {"groups": []}
    suite["ready"] = suite.get("ready") or ["/"]
    return suite


class Scenario:
    """The cases of one group, asked in their order."""

    def __init__(self, group):
        self.cases = {case["id"]: case for case in group["cases"] or []}
        self.answers = {}  # of the cases that were answered, by ID
        self.requests = {}  # as they were sent, by ID
        self.unmet = {}  # cases that others cannot build on, with the reason
        self.asked = set()

    def check(self, wanted):
        """Asks a case, after all those before it that were not asked yet. Gives "" where the
        answer is as it was recorded, else what differs."""
        for case in self.cases.values():
            if case["id"] == wanted["id"]:
                break
            if case["id"] not in self.asked:
                self.ask(case)  # how it goes is told where it is the test, or where somebody needs it
        return self.ask(wanted)

    def ask(self, case):
        try:
            self.send(case)
        except Failure as e:
            return str(e)
        return ""

    def send(self, case):
        name = case["id"]
        self.asked.add(name)
        expect = case.get("expect")
        for need in case.get("needs") or []:
            if need in self.unmet:
                self.unmet[name] = "it needs %s" % need
                raise Failure("This case needs %s, which did not go as recorded: %s." % (need, self.unmet[need]))
        try:
            request = self.fill(case["request"])
            self.requests[name] = request
            method, target, headers, body = wire(case, request)
        except (Missing, ValueError) as e:  # ValueError: half a character, which no request can have
            self.unmet[name] = str(e)
            raise Failure("This case cannot be sent: %s." % e) from None
        sent = "sent      %s %s\n%s" % (method, target, indented(body))
        try:
            answer = self.answers[name] = send(method, target, headers, body, MAIL_PORT if case["kind"] == "mail" else None)
        except NoAnswer as e:
            self.unmet[name] = str(e)
            raise Failure("got       %s\n%s" % (e, sent)) from None
        if expect is None:
            return
        if answer.status != expect["status"]:
            self.unmet[name] = "its status is %d, not %d" % (answer.status, expect["status"])
        why = self.differs(expect, answer)
        if why:
            got = "got       status %d, %s\n%s" % (answer.status, answer.media_type or "no content type", indented(answer.content))
            raise Failure(why + "\n" + got + sent)

    def differs(self, expect, answer):
        """What is not as expected, "" where all is."""
        if answer.status != expect["status"]:
            return "expected  status %d" % expect["status"]
        if expect.get("type") and answer.media_type != expect["type"]:
            return "expected  content type %s" % expect["type"]
        if expect.get("location"):
            location = answer.headers.get("location")
            if location is None:
                return "expected  a Location header"
            why = mismatch(expect["location"], location_value(expect["location"], location), self.value)
            if why:
                return "expected  in the path of the Location header: %s" % why
        if expect.get("body"):
            why = mismatch(expect["body"], answer.value, self.value)
            if why:
                return "expected  in the body, at %s" % why
        return ""

    def fill(self, value):
        """A copy of a value with the references replaced."""
        if isinstance(value, list):
            return [self.fill(v) for v in value]
        if not isinstance(value, dict):
            return value
        if "$ref" not in value:
            return {k: self.fill(v) for k, v in value.items()}
        found = self.value(value["$ref"])
        if "$form" in value:
            return value["$form"].replace("%s", text(found), 1)
        return found

    def value(self, ref):
        """The value of CASE:PLACE. Raises Missing."""
        name, _, place = ref.partition(":")
        root, _, rest = place.partition("/")
        try:
            if root == "request":
                request = self.requests[name]
                part, _, path = rest.partition("/")
                return member(request.get(part), path)
            answer = self.answers[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Missing("there is no %s of %s" % (place, name)) from None
        try:
            if root == "body" and answer.is_json:
                return member(answer.value, rest)
            if root == "header":
                header, _, part = rest.partition("/")
                found = answer.headers[header.lower()]
                return last_segment(found) if part == "last" else found
            if root == "cookie":
                return cookie(answer.headers.get("set-cookie", ""), rest)
        except (KeyError, IndexError, ValueError, TypeError):
            pass
        raise Missing("the answer of %s has no %s" % (name, place))


def member(value, path):
    for step in path.split("/") if path else []:
        if isinstance(value, list):
            if not re.fullmatch("0|[1-9][0-9]*", step):
                raise KeyError(step)
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step.replace("~1", "/").replace("~0", "~")]
        else:
            raise KeyError(step)
    return value


def last_segment(location):
    last = unquote(urlsplit(location).path).strip("/").split("/")[-1]
    if not last:
        raise KeyError(location)
    return last


def cookie(header, name):
    for line in header.split("\n"):
        key, equals, value = line.split(";")[0].strip().partition("=")
        if equals and key == name:
            return value
    raise KeyError(name)


def wire(case, request):
    """Method, target, headers and body of a filled request."""

    def parameter(found):
        value = text(request.get("params", {})[found.group(1)])
        if value in ("", ".", ".."):
            raise Missing("the parameter %s is %r" % (found.group(1), value))
        return quote(value, safe="")

    target = re.sub(r"\{([^}]*)\}", parameter, request["path"])
    if request.get("query"):
        target += "?" + form(request["query"])
    headers, body, encoding = {}, None, request.get("encoding", "")
    if encoding == "json":
        headers["Content-Type"] = "application/json"
        body = json.dumps(request.get("body"), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode("utf-8", "replace")
    elif encoding == "form":
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = form(request.get("body") or {}).encode()
    elif encoding == "raw":
        body = text(request.get("body")).encode("utf-8", "replace")
    for name, value in request.get("headers", {}).items():
        headers = {k: v for k, v in headers.items() if k.lower() != name.lower()}
        headers[name] = text(value).replace("\r", "").replace("\n", "")
    return case["endpoint"]["method"], target, headers, body


def form(fields):
    pairs = []
    for name in sorted(fields):
        values = fields[name] if isinstance(fields[name], list) else [fields[name]]
        pairs += [(name, text(v)) for v in values]
    return urlencode(pairs)


def text(value):
    """A value as it stands in a path, a query, a form or a header."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def mismatch(matcher, value, lookup, at=""):
    """Where and why a value is not what the matcher asks for, "" where it is. lookup gives the
    value of a reference, or raises Missing."""
    where = (at or "the whole") + ": "
    if "equal" in matcher:
        if not same(matcher["equal"], value):
            return unequal(matcher["equal"], value, at)
    elif "type" in matcher:
        kind = kind_of(value)
        if kind != matcher["type"] and (kind, matcher["type"]) != ("integer", "number"):
            return where + "any %s, got %s" % (matcher["type"], shown(value))
    elif "ref" in matcher:
        try:
            wanted = lookup(matcher["ref"])
        except Missing as e:
            return where + str(e)
        if not same(wanted, value):
            return where + "%s, which is %s, got %s" % (shown(wanted), matcher["ref"], shown(value))
    elif "form" in matcher:
        if not isinstance(value, str) or not re.fullmatch(FORMS[matcher["form"]], value):
            return where + "a text like a %s, got %s" % (matcher["form"], shown(value))
    elif "object" in matcher:
        return object_mismatch(matcher["object"], value, lookup, at)
    elif "list" in matcher:
        return list_mismatch(matcher["list"], value, lookup, at)
    elif "set" in matcher:
        return set_mismatch(matcher["set"], value, lookup, at)
    else:
        return where + "nothing: the matcher is not known"
    return ""


def object_mismatch(wanted, value, lookup, at):
    where = (at or "the whole") + ": "
    if not isinstance(value, dict):
        return where + "an object, got %s" % shown(value)
    missing, more = sorted(set(wanted) - set(value)), sorted(set(value) - set(wanted))
    if missing:
        return where + "the key %s, which is missing" % shown(missing[0])
    if more:
        return where + "no key %s" % shown(more[0])
    for key in sorted(wanted):
        why = mismatch(wanted[key], value[key], lookup, below(at, key))
        if why:
            return why
    return ""


def list_mismatch(wanted, value, lookup, at):
    why = length_mismatch(wanted, value, at)
    for i, matcher in enumerate(wanted):
        if why:
            break
        why = mismatch(matcher, value[i], lookup, below(at, str(i)))
    return why


def set_mismatch(wanted, value, lookup, at):
    """Gives each element a matcher of its own, by augmenting paths."""
    why = length_mismatch(wanted, value, at)
    if why:
        return why
    fits = [[j for j, m in enumerate(wanted) if not mismatch(m, v, lookup)] for v in value]
    taken = [None] * len(wanted)  # the element of each matcher

    def place(i, tried):
        for j in fits[i]:
            if j not in tried:
                tried.add(j)
                if taken[j] is None or place(taken[j], tried):
                    taken[j] = i
                    return True
        return False

    for i in range(len(value)):
        if not place(i, set()):
            return "%s: nothing like %s in this list" % (below(at, str(i)), shown(value[i]))
    return ""


def length_mismatch(wanted, value, at):
    where = (at or "the whole") + ": "
    if not isinstance(value, list):
        return where + "a list, got %s" % shown(value)
    if len(value) != len(wanted):
        return where + "%d elements, got %d" % (len(wanted), len(value))
    return ""


def unequal(wanted, value, at):
    """The innermost place at which two values differ."""
    if isinstance(wanted, dict) and isinstance(value, dict) and set(wanted) == set(value):
        for key in sorted(wanted):
            if not same(wanted[key], value[key]):
                return unequal(wanted[key], value[key], below(at, key))
    if isinstance(wanted, list) and isinstance(value, list) and len(wanted) == len(value):
        for i, w in enumerate(wanted):
            if not same(w, value[i]):
                return unequal(w, value[i], below(at, str(i)))
    return "%s: %s, got %s" % (at or "the whole", shown(wanted), shown(value))


def same(a, b):
    """Whether two JSON values are equal. 1 equals 1.0, and does not equal true."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def kind_of(value):
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def location_value(matcher, location):
    """The path of a Location header; for a list its segments."""
    path = location.split("#")[0].split("?")[0]
    if "://" in path:
        path = "/" + path.split("://", 1)[1].partition("/")[2]
    if "list" not in matcher:
        return path
    return (path[1:] if path.startswith("/") else path).split("/")


def below(at, step):
    step = step.replace("~", "~0").replace("/", "~1")
    return at + "/" + step if at else step


def shown(value, most=200):
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= most else written[:most] + "…"


def indented(content, most=1000):
    """A body in a message."""
    if not content:
        return ""
    written = content.decode("utf-8", "replace")
    if len(written) > most:
        written = written[:most] + "…"
    return "".join("          " + line + "\n" for line in written.splitlines())
