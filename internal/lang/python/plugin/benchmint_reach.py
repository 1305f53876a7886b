"""Runs pytest and notes for each test which functions of the tree it enters.

    python benchmint_reach.py TREE OUT script|module [pytest arguments]

OUT gets a JSON line for each test: its ID as the tree knows it, and [path, first line] of each
function. It looks at threads that a test starts, and not at other processes. It works on
CPython 2.7 to 3.13 and pytest 4.6 to 9, and never prints.
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
    def __init__(self, tree, out):
        self.tree, self.out, self.places = os.path.realpath(tree), out, {}

    def place(self, code):
        """[path, line] of a function of the tree, or None. The codes are kept: their ids stay theirs."""
        found = self.places.get(id(code))
        if found is None:
            path = inside(self.tree, code.co_filename) if code.co_flags & OPTIMIZED else None
            found = self.places[id(code)] = (code, [path, code.co_firstlineno] if path else None)
        return found[1]

    def name(self, item):
        head, sep, tail = item.nodeid.partition("::")
        root = str(getattr(item.config, "rootpath", None) or item.config.rootdir)
        return (inside(self.tree, os.path.join(os.path.realpath(root), head)) or head) + sep + tail

    def around(self, item):
        entered = {}

        def profile(frame, event, arg):
            if event == "call":
                entered[id(frame.f_code)] = frame.f_code

        threading.setprofile(profile)
        sys.setprofile(profile)
        yield
        sys.setprofile(None)
        threading.setprofile(None)
        at = [p for p in map(self.place, list(entered.values())) if p]
        with open(self.out, "a") as f:
            f.write(json.dumps({"id": self.name(item), "at": sorted(at)}) + "\n")


def main(tree, out, style, words):
    sys.path[0] = os.getcwd() if style == "module" else os.path.dirname(sys.executable)
    import pytest
    reach = Reach(tree, out)

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
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
