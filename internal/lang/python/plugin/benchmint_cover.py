"""Runs pytest and notes which lines of files run.

    python benchmint_cover.py TREE OUT FILES script|module [pytest arguments]

FILES is a JSON list of paths below TREE. OUT gets a JSON object: of each of them the lines that
can run, and those that did. It looks at threads, and not at other processes. It works on
CPython 2.7 to 3.14, and never prints.
"""
import dis
import json
import os
import sys
import threading


def runnable(code):
    """The lines of a code object and of those in it."""
    lines = {n for _, n in dis.findlinestarts(code) if n}
    for c in code.co_consts:
        if hasattr(c, "co_code"):
            lines |= runnable(c)
    return lines


class Cover(object):
    def __init__(self, tree, files):
        self.tree, self.ran, self.of = os.path.realpath(tree), {p: set() for p in files}, {}

    def lines(self, filename):
        """The set of lines of a file of ours, or None."""
        if filename not in self.of:
            path = os.path.relpath(os.path.realpath(filename), self.tree) if filename[:1] != "<" else None
            self.of[filename] = self.ran.get(path)
        return self.of[filename]

    def start(self):
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:
            threading.settrace(self.trace)
            sys.settrace(self.trace)
            return
        tool = next(n for n in (1, 3, 4, 0, 2, 5) if monitoring.get_tool(n) is None)
        monitoring.use_tool_id(tool, "benchmint")
        monitoring.register_callback(tool, monitoring.events.LINE, self.line)
        monitoring.set_events(tool, monitoring.events.LINE)

    def line(self, code, number):
        lines = self.lines(code.co_filename)
        if lines is not None:
            lines.add(number)
        return sys.monitoring.DISABLE  # once is enough

    def trace(self, frame, event, arg):
        lines = self.lines(frame.f_code.co_filename)
        if lines is None:
            return None

        def local(frame, event, arg):
            if event == "line":
                lines.add(frame.f_lineno)
            return local

        return local

    def report(self):
        said = {}
        for path, ran in self.ran.items():
            try:
                with open(os.path.join(self.tree, path), "rb") as f:
                    lines = runnable(compile(f.read(), path, "exec", 0, True))
            except (OSError, IOError, SyntaxError, ValueError):
                continue
            said[path] = [sorted(lines), sorted(ran & lines)]
        return said


def main(tree, out, files, style, words):
    sys.path[0] = os.getcwd() if style == "module" else os.path.dirname(sys.executable)
    with open(files) as f:
        cover = Cover(tree, json.load(f))
    cover.start()
    import pytest

    class Hooks(object):
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config):
            if getattr(config.option, "numprocesses", None):
                config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []
            yield

    try:
        return int(pytest.main(words, plugins=[Hooks()]) or 0)
    finally:
        with open(out, "w") as f:
            json.dump(cover.report(), f)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
