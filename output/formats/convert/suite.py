"""Runs the tests of one task: exits with 0 where all of them pass, else with 1."""
import base64
import json
import os
import site
import subprocess
import sys
import sysconfig

given = json.loads(base64.b64decode("""@SETTINGS@""").decode("utf-8"))
root = os.path.realpath(os.getcwd())
os.environ.update(given["env"])

# The files of the tests are the task's, whatever the patch did to them.
for name, data in given["files"].items():
    target = os.path.join(root, name)
    if os.path.lexists(target):
        os.remove(target)
    if data is not None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(base64.b64decode(data))

if given["install"]:
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "-e", root])
    site.addsitedir(sysconfig.get_paths()["purelib"])  # this process began before it was there

os.chdir(os.path.join(root, given["dir"]))
sys.path.insert(0, os.getcwd())
import pytest  # noqa: E402


class Outcomes(object):
    """The worst outcome of each test, under its name relative to the root."""

    def __init__(self):
        self.seen, self.top = {}, root

    def pytest_sessionstart(self, session):
        self.top = str(session.config.rootdir)

    def pytest_runtest_logreport(self, report):
        head, sep, tail = report.nodeid.partition("::")
        name = os.path.relpath(os.path.join(self.top, head), root) + sep + tail
        passed = report.outcome == "passed" and not hasattr(report, "wasxfail")
        if report.when == "call" or not passed:
            self.seen[name] = passed and self.seen.get(name, True)


outcomes = Outcomes()
pytest.main(given["words"] + ["-p", "no:cacheprovider", "--continue-on-collection-errors"], plugins=[outcomes])
missed = [name for name in given["tests"] if not outcomes.seen.get(name)]
for name in missed:
    print("does not pass: %r" % name)
if missed:
    sys.exit(1)
sys.exit(0)
