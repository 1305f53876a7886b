# Prints PASSED or FAILED and the ID for each case of a service, as benchmint reads them: by the
# JUnit file that each process of the tester has left, and the code that it ended with.
# convert.py CASES CODES REPORTS: CASES is a list of the IDs of each process.
import json
import os
import sys
from xml.etree import ElementTree

NOT_READY = 7  # of a session that met no service


def passed(codes, reports, number):
    """The IDs of the cases that passed."""
    try:
        with open("%s.%d" % (codes, number)) as f:
            if int(f.read()) == NOT_READY:
                return set()
        root = ElementTree.parse(os.path.join(reports, "%d.xml" % number)).getroot()
    except (OSError, ValueError, ElementTree.ParseError):
        return set()
    good, bad = set(), set()
    for case in root.iter("testcase"):
        name = "tests_benchmint/%s.py::%s" % (case.get("classname", "").rpartition(".")[2], case.get("name"))
        fails = any(case.find(word) is not None for word in ("failure", "error", "skipped"))
        (bad if fails else good).add(name)
    return good - bad


with open(sys.argv[1], encoding="utf-8") as f:
    processes = json.load(f)
for number, cases in enumerate(processes):
    good = passed(sys.argv[2], sys.argv[3], number)
    for name in cases:
        os.write(1, ("%s %s\n" % ("PASSED" if name in good else "FAILED", name)).encode("utf-8"))
