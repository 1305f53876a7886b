"""Asks uv for a lock in several ways, best first, and notes which one held.

python3 resolve.py PLAN: PLAN is JSON with "out", "note" and "attempts"; each
attempt has a name and an argv whose standard output is the lock. A registry
that does not answer ends all: an older date would not help, and the answer
would depend on the weather.
"""
import json
import re
import subprocess
import sys

NOT_NOW = re.compile(
    r"error sending request|Failed to fetch|dns error|connection (reset|refused|closed)|timed? ?out"
    r"|HTTP status (server error|client error \(429)|50[0234] (Bad|Service|Gateway|Internal)|tls|certificate",
    re.I)


def main(path):
    with open(path) as f:
        plan = json.load(f)
    for attempt in plan["attempts"]:
        p = subprocess.Popen(attempt["argv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = (b.decode("utf-8", "replace") for b in p.communicate())
        if p.returncode == 0:
            with open(plan["out"], "w") as f:
                f.write(out)
            with open(plan["note"], "w") as f:
                json.dump({"pinning": attempt["pinning"], "date": attempt["date"]}, f)
            return 0
        print("== %s %s: exit %d" % (attempt["pinning"], attempt["date"], p.returncode))
        print(err)
        if NOT_NOW.search(err) and "No solution found" not in err:
            print("registry unavailable: connection timed out or refused")
            return 75
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
