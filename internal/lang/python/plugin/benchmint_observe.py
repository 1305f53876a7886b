"""Loads the code of a tree and notes which of its functions run.

    python benchmint_observe.py TREE OUT PLAN [script|module [pytest arguments]]

PLAN is JSON: "modules" to import, "roots" that go before the path, "site" with folders of packages,
"seconds" that one module may take. All modules are imported in one process; those that do not load
there are tried once more, each in a process of its own. Then pytest collects the tests, where its
arguments are given. OUT gets JSON lines: {"ran": [path, line, name, place of the first call]} for
each function, with "tests": true where it ran for a file of tests alone, and {"unit": name, "message": why not, "path" and "line": of the innermost place in
the tree} for each module and each file of tests; no message is a success. It works on CPython 2.7 to
3.14.
"""
import importlib
import json
import os
import select
import signal
import site
import sys
import threading
import time
import traceback

FUNCTION = 0x3  # the flags of the code of a function; modules and bodies of classes lack them
PARTS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


def blamed(error):
    """The error of a masked body, where that is what an error comes of; else the error itself."""
    at, seen = error, []
    while at is not None and at not in seen and "masked: " not in str(at):
        seen.append(at)
        at = getattr(at, "__cause__", None) or getattr(at, "__context__", None)
    return at if at is not None and at not in seen else error


class Watch(object):
    def __init__(self, tree, out):
        self.tree, self.out, self.seen, self.codes, self.paths = os.path.realpath(tree), out, set(), [], {}
        self.collecting = False

    def say(self, **said):
        os.write(self.out, (json.dumps(said) + "\n").encode("ascii"))

    def inside(self, name):
        """The path in the tree of a file, or None; <frozen os> is none."""
        if name not in self.paths:
            path = os.path.realpath(os.path.join(self.tree, name))
            here = not name.startswith("<") and path.startswith(self.tree + os.sep)
            self.paths[name] = os.path.relpath(path, self.tree) if here else None
        return self.paths[name]

    def note(self, code, caller):
        if id(code) in self.seen:
            return
        self.seen.add(id(code))
        self.codes.append(code)  # kept: its id stays its own
        if code.co_flags & FUNCTION != FUNCTION or code.co_name in PARTS:
            return
        path = self.inside(code.co_filename)
        if path is None:
            return
        first, tests = "", self.collecting
        while caller is not None and (tests or not first):
            at = self.inside(caller.f_code.co_filename)
            if at and caller.f_code is not code:
                first = first or "%s:%d" % (at, caller.f_lineno)
                tests = tests and os.path.basename(at) != "conftest.py"  # which is loaded for all
            caller = caller.f_back
        self.say(ran=[path, code.co_firstlineno, code.co_name, first], tests=tests)

    def begin(self):
        if not hasattr(sys, "monitoring"):
            def profile(frame, event, _):
                if event == "call":
                    self.note(frame.f_code, frame.f_back)
            threading.setprofile(profile)
            sys.setprofile(profile)
            return
        m = sys.monitoring

        def start(code, _):
            self.note(code, sys._getframe(1).f_back)
            return m.DISABLE  # each code is heard of once
        tool = 4  # neither a debugger's number nor that of coverage or of a profiler
        m.use_tool_id(tool, "benchmint")
        m.register_callback(tool, m.events.PY_START, start)
        m.set_events(tool, m.events.PY_START)

    def place(self, error):
        """The innermost place in the tree that an error came from."""
        if isinstance(error, SyntaxError) and error.filename and self.inside(error.filename):
            return self.inside(error.filename), error.lineno or 0
        at = "", 0
        trace = getattr(error, "__traceback__", None) or sys.exc_info()[2]
        for frame in traceback.extract_tb(trace):
            if self.inside(frame[0]):
                at = self.inside(frame[0]), frame[1]
        return at

    def load(self, name):
        try:
            module = importlib.import_module(name)
        except BaseException as error:
            error = blamed(error)
            text = str(error).strip().split("\n")[0]
            path, line = self.place(error)
            return self.say(unit=name, message=type(error).__name__ + (": " + text if text else ""), path=path, line=line)
        spec = getattr(module, "__spec__", None)
        file = getattr(module, "__file__", None) or getattr(spec, "origin", None)
        if file and not self.inside(file):
            return self.say(unit=name, message="imported from outside of the tree: %s" % file)
        self.say(unit=name)

    def collect(self, style, words):
        sys.path[0] = os.getcwd() if style == "module" else os.path.dirname(sys.executable)
        import pytest
        watch, self.collecting = self, True

        class Hooks(object):
            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_cmdline_main(self, config):
                if getattr(config.option, "numprocesses", None):
                    config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []
                yield

            def pytest_collectreport(self, report):
                if report.failed:
                    text = str(report.longrepr)
                    lines = [l.strip() for l in text.split("\n") if l.strip()]
                    named = [l for l in lines if "masked: " in l]
                    places = [watch.inside(l.split(":")[0]) for l in lines if ".py:" in l and " " not in l.split(":")[0]]
                    at = [p for p in places if p] or [""]
                    watch.say(unit="tests " + report.nodeid, tests=True, message=(named or lines or ["error"])[-1], path=at[-1])
        pytest.main(["--collect-only", "-q"] + words, plugins=[Hooks()])


def child(work, tree):
    """What it does ends with its process; its lines come back by a pipe."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    try:
        os.close(read)
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        watch = Watch(tree, write)
        watch.begin()
        work(watch)
    finally:
        os._exit(0)


def lines(work, tree, seconds):
    """The lines of a child, until it ends or says nothing for so long; the last is how it ended."""
    pid, read = child(work, tree)
    rest, end = b"", time.time() + seconds
    while True:
        ready, _, _ = select.select([read], [], [], max(0, end - time.time()))
        got = os.read(read, 1 << 16) if ready else b""
        if not got:
            break
        rest, end = rest + got, time.time() + seconds
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            yield json.loads(line.decode("ascii"))
    os.close(read)
    done, status = 0, 0
    for _ in range(100 if ready else 0):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    for target in (os.killpg, os.kill):
        try:
            target(pid, signal.SIGKILL)  # and what it left running
        except OSError:
            pass
    if not done:
        os.waitpid(pid, 0)
    if not ready:
        yield {"end": "not imported within %d s" % seconds, "late": True}
    elif os.WIFSIGNALED(status):
        yield {"end": "the import ended the process: signal %d" % os.WTERMSIG(status)}
    else:
        yield {"end": "the import ended the process: exit code %d" % os.WEXITSTATUS(status)}


def main(tree, out, plan, words):
    with open(plan) as f:
        plan = json.load(f)
    for folder in plan.get("site", []):
        site.addsitedir(folder)
    ends = {}
    with open(out, "w") as to:
        def run(names, work):
            left, end = list(names), {}
            for line in lines(work, tree, plan["seconds"]):
                if "unit" in line:
                    ends[line["unit"]] = line
                    left = [n for n in left if n != line["unit"]]
                elif "ran" in line:
                    to.write(json.dumps(line) + "\n")
                else:
                    end = {"message": line["end"], "late": line.get("late", False)}
            return left, end

        def importing(names):
            def work(watch):
                sys.path[:1] = [os.path.normpath(os.path.join(tree, r)) for r in plan["roots"]]
                sys.argv = [""]
                for name in names:
                    watch.load(name)
            return work

        left = plan["modules"]
        while left:
            names = left
            left, end = run(names, importing(names))
            if left:  # the first of those was at work
                ends[left[0]] = dict(end, unit=left[0])
                left = left[1:]
        for name in [n for n in plan["modules"] if ends[n].get("message")]:
            run([name], importing([name]))
        if words:
            run([], lambda watch: watch.collect(words[0], words[1:]))
        for unit in sorted(ends):
            to.write(json.dumps(ends[unit]) + "\n")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
