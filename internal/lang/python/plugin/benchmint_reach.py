"""Runs pytest and notes for each test which functions of the tree it enters.

    python benchmint_reach.py TREE OUT ONLY script|module [pytest arguments]

OUT gets a JSON line for each test: its ID as the tree knows it, and [path, first line] of each
function in the files that ONLY lists as JSON; null there is all files. It looks at threads that a
test starts, and not at other processes. It works on CPython 2.7 to 3.14 and pytest 4.6 to 9, and
never prints.
"""
import json
import os
import sys
import threading

OPTIMIZED = 1  # the flag of the code of a function; modules and bodies of classes lack it


def inside(tree, path):
    path = os.path.normpath(os.path.join(tree, path))
    return os.path.relpath(path, tree) if path.startswith(tree + os.sep) else None


class Reach(object):
    def __init__(self, tree, out, only):
        self.tree, self.out, self.places = os.path.realpath(tree), out, {}
        with open(only) as f:
            self.only = json.load(f)

    def place(self, code):
        """[path, line] of a function of the tree, or None. The codes are kept: their ids stay theirs."""
        found = self.places.get(id(code))
        if found is None:
            path = inside(self.tree, code.co_filename) if code.co_flags & OPTIMIZED else None
            if self.only is not None and path not in self.only:
                path = None
            found = self.places[id(code)] = (code, [path, code.co_firstlineno] if path else None)
        return found[1]

    def name(self, item):
        head, sep, tail = item.nodeid.partition("::")
        root = str(getattr(item.config, "rootpath", None) or item.config.rootdir)
        return (inside(self.tree, os.path.join(os.path.realpath(root), head)) or head) + sep + tail

    def begin(self, profile, _):
        threading.setprofile(profile)
        sys.setprofile(profile)

    def end(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def around(self, item):
        entered = {}

        def profile(frame, event, arg):
            if event == "call":
                entered[id(frame.f_code)] = frame.f_code

        self.begin(profile, entered)
        yield
        self.end()
        at = [p for p in map(self.place, list(entered.values())) if p]
        with open(self.out, "a") as f:
            f.write(json.dumps({"id": self.name(item), "at": sorted(at)}) + "\n")


class Monitored(Reach):
    """Reach from Python 3.12 on: a function of another file is heard of once, and costs nothing then."""

    TOOL = 4  # neither a debugger's number nor that of coverage or of a profiler

    def __init__(self, tree, out, only):
        Reach.__init__(self, tree, out, only)
        self.entered, self.before = None, set()
        m = sys.monitoring
        m.use_tool_id(self.TOOL, "reach")
        for event, hear in ((m.events.PY_START, self.hear), (m.events.PY_RESUME, self.hear), (m.events.PY_THROW, self.thrown)):
            m.register_callback(self.TOOL, event, hear)
        m.set_events(self.TOOL, m.events.PY_START | m.events.PY_RESUME | m.events.PY_THROW)

    def hear(self, code, *_):
        if self.place(code) is None:
            return sys.monitoring.DISABLE
        if self.entered is not None and threading.get_ident() not in self.before:
            self.entered[id(code)] = code

    def thrown(self, *args):
        self.hear(*args)  # this event cannot be disabled

    def begin(self, _, entered):
        self.before = set(sys._current_frames()) - {threading.get_ident()}
        self.entered = entered

    def end(self):
        self.entered = None


def main(tree, out, only, style, words):
    sys.path[0] = os.getcwd() if style == "module" else os.path.dirname(sys.executable)
    import pytest
    reach = (Monitored if hasattr(sys, "monitoring") else Reach)(tree, out, only)

    class Hooks(object):
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            for step in reach.around(item):
                yield step

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config):
            if getattr(config.option, "numprocesses", None):
                config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []
            yield

    return int(pytest.main(words, plugins=[Hooks()]) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
