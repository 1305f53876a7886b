# Prints PASSED, FAILED or SKIPPED and the ID for each test of the reports of
# benchmint's plugin, as benchmint reads them: the worst phase counts.
import json
import os
import re
import sys

RANK = {"": 0, "PASSED": 1, "XPASSED": 2, "SKIPPED": 3, "XFAIL": 4, "FAILED": 5}


def status(r):
    outcome, expected = r.get("outcome"), r.get("xfail")
    if r.get("sub") and outcome != "failed":
        return ""
    if outcome == "failed":
        return "FAILED"
    if outcome == "skipped":
        return "XFAIL" if expected else "SKIPPED"
    if outcome == "passed" and r.get("when") == "call":
        return "XPASSED" if expected else "PASSED"
    return ""


def kept(name):
    """Whether SWE-bench's parser gives a name back as it is."""
    return name and " ".join(name.split()) == name and not re.search(r"[\x00-\x1f]|\[\d+m", name)


def say(lines):
    data = b""
    for word, name in lines:
        if kept(name):
            try:
                data += (u"%s %s\n" % (word, name)).encode("utf-8")
            except UnicodeError:  # half of a character
                pass
    while data:
        data = data[os.write(1, data):]


def convert(path):
    listed, tests, order, ended, count, lines = set(), {}, [], False, 0, []
    with open(path, "rb") as f:
        for line in f:
            if not line.startswith(b'{"n":"') or ended:
                continue
            try:
                r = json.loads(line.decode("utf-8"))
            except ValueError:
                continue
            if r.get("i") != count:
                return  # more than the plugin wrote it
            count += 1
            kind, name = r.get("t"), r.get("id")
            if kind == "listed":
                listed.update(r.get("ids") or ())
            elif kind == "unit" and r.get("outcome") == "failed":
                lines.append(("FAILED", r.get("unit")))
            elif kind == "finish":
                ended = r.get("status") in (0, 1, 5)
            if name not in listed:
                continue
            if kind == "begin":
                tests[name] = ["", False]
                order.append(name)
            elif kind == "phase":
                if name not in tests:
                    tests[name] = ["", True]
                    order.append(name)
                said = status(r)
                if r.get("outcome") == "rerun":
                    tests[name][0] = ""
                elif RANK[said] > RANK[tests[name][0]]:
                    tests[name][0] = said
            elif kind == "end" and name in tests:
                tests[name][1] = True
    for name in order:
        said, done = tests[name]
        if not done and not ended:
            said = "FAILED"  # it ended the run
        if said in ("PASSED", "FAILED", "SKIPPED"):
            lines.append((said, name))
    say(lines)


for report in sys.argv[1:]:
    if os.path.exists(report):
        convert(report)
