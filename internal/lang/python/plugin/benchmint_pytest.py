"""Runs pytest and reports what it did, out of band, as JSON lines.

Started as a script, in pytest's place:
    python benchmint_pytest.py CONFIG script|module [pytest arguments]

It works on CPython 2.7 to 3.13 and pytest 4.6 to 9, and never prints. Tests
share this process: they may fork, exit, crash, change the directory, close
descriptors or replace modules. So everything that is needed later is bound at
import, records are written with one system call each, and only the process
that started the session writes.

PYTEST_DONT_REWRITE
"""
import errno
import fcntl
import fnmatch
import json
import os
import sys

MAX_WHY = 2000  # characters of a failure's text; the log has the rest
LIST_CHUNK = 500  # test IDs per record, to keep lines short
# What the machine, and no code, answers a system call with.
FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO)

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_text = type(u"")


def _to_text(value):
    if isinstance(value, _text):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return _text(value)
    except Exception:  # a hostile __str__ must not end the session
        return u"<unprintable %s>" % type(value).__name__


class Writer(object):
    """Appends records to the report, whatever the tests did to descriptors."""

    def __init__(self, path, nonce):
        self.path, self.nonce, self.pid = path, nonce, os.getpid()
        self._getpid, self._write, self._fstat, self._open = os.getpid, os.write, os.fstat, os.open
        self._dup, self._error, self._encode = fcntl.fcntl, EnvironmentError, _encode
        self._flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._eintr = errno.EINTR
        self.fd = self._high(self._open(path, self._flags, 0o600))
        stat = os.fstat(self.fd)
        self.identity = (stat.st_dev, stat.st_ino)

    def _high(self, fd):
        # Tests that close "all" descriptors mean the low ones.
        try:
            high = self._dup(fd, 1030, 200)  # F_DUPFD_CLOEXEC, which 2.7 does not name
        except Exception:
            return fd
        os.close(fd)
        return high

    def write(self, kind, **fields):
        if self._getpid() != self.pid:
            return  # a forked child: its outcome is its parent's to tell
        fields["n"], fields["t"] = self.nonce, kind
        data = (self._encode(fields) + "\n").encode("ascii")
        try:
            stat = self._fstat(self.fd)
            same = (stat.st_dev, stat.st_ino) == self.identity
        except self._error:
            same = False
        if not same:  # closed, perhaps used again for a file of the tests
            self.fd = self._open(self.path, self._flags, 0o600)
            stat = self._fstat(self.fd)
            self.identity = (stat.st_dev, stat.st_ino)
        while data:
            try:
                data = data[self._write(self.fd, data):]
            except self._error as err:
                if err.errno != self._eintr:
                    raise


class Plugin(object):
    """The hooks. One object for one session: sessions inside tests have their own plugins."""

    def __init__(self, config, writer):
        self.out, self.seed = writer, config.get("number", 0)
        self.tree = os.path.realpath(config["tree"])
        self.skip = set(_to_text(i) for i in config.get("skip") or [])
        self.root, self.ids = self.tree, {}
        self.loaded, self.dead = set(), []
        self.met, self.through, self.error = False, False, None
        self._join, self._normpath, self._relpath = os.path.join, os.path.normpath, os.path.relpath

    # Names

    def relative(self, path):
        """A path as the tree knows it; paths outside stay as they are."""
        path = self._normpath(self._join(self.root, _to_text(path)))
        if path == self.tree or path.startswith(self.tree + os.sep):
            return self._relpath(path, self.tree)
        return path

    def name(self, nodeid):
        """(test ID, unit) of a node: its file is relative to the tree's root."""
        found = self.ids.get(nodeid)
        if found is None:
            head, sep, tail = _to_text(nodeid).partition(u"::")
            unit = self.relative(head)
            found = self.ids[nodeid] = (unit + sep + tail, unit)
        return found

    def file_of(self, node):
        return _to_text(getattr(node, "path", None) or getattr(node, "fspath", None) or u"")

    # Start

    def configure_root(self, config):
        self.root = os.path.realpath(_to_text(getattr(config, "rootpath", None) or config.rootdir))
        self.config = config

    def cmdline_main(self, config):
        """Runs before the plugins that would start workers or shuffle."""
        self.configure_root(config)
        option = config.option
        # Workers lose the order and the crashing test; IDs and outcomes are the same without.
        for name, value in (("numprocesses", None), ("dist", "no"), ("tx", []), ("distload", False), ("looponfail", False)):
            if getattr(option, name, None):
                setattr(option, name, value)
        # A rerun hides what the proof wants to see.
        if getattr(option, "reruns", None):
            option.reruns = 0
        # Generated examples vary with the run's number, like the hash seed, and only with it.
        if hasattr(option, "hypothesis_seed") and getattr(option, "hypothesis_seed") is None:
            option.hypothesis_seed = str(self.seed)

    def session_start(self, session):
        import pytest
        self.configure_root(session.config)
        self.out.write("start", python=u"%d.%d.%d" % sys.version_info[:3], pytest=_to_text(pytest.__version__))

    # Collection

    def ignore(self, path):
        if self.relative(path) in self.skip:
            return True
        return None

    def collect_start(self, collector):
        if self.is_file(collector):
            self.met = True
            self.out.write("loading", unit=self.relative(self.file_of(collector)))

    def is_file(self, collector):
        import pytest
        package = getattr(pytest, "Package", ())
        return isinstance(collector, pytest.File) and not isinstance(collector, package)

    def collect_report(self, collector, report):
        path = self.relative(self.file_of(collector) or self.root)
        if self.is_file(collector):
            if report.outcome == "passed":
                self.loaded.add(path)
                self.out.write("loaded", unit=path)
            else:
                self.loaded.add(path)
                self.out.write("unit", unit=path, outcome=_to_text(report.outcome), why=self.why(report))
        elif report.outcome == "failed":
            head, sep, _ = _to_text(report.nodeid).partition(u"::")
            if sep:  # a class of a file that loaded
                self.out.write("unit", unit=self.relative(head), outcome=u"failed", why=self.why(report))
            else:  # a folder: the files below were never met
                self.dead.append((self.folder(collector), self.why(report)))

    def folder(self, collector):
        path = self.file_of(collector)
        if not _to_text(collector.nodeid) or not path:
            return self.tree  # the session itself: old pytest loses everything for one conftest
        return path if os.path.isdir(path) else os.path.dirname(path)

    def failed(self, error):
        """Keeps the error that ends pytest: its exit status alone does not say why."""
        self.error = error

    def ended(self, status, error=None):
        """Tells of a session that ended before it met a file: nothing of the tree loaded.

        Its settings or its first conftest name what is not there, or a plugin gave up.
        Where the machine is at fault nothing is known of the tree.
        """
        if self.met or self.through:
            return
        error = error or self.error
        fault = self.fault_in(error)
        if fault is not None:
            self.out.write("fault", why=self.crash_of(fault))
            return
        why = u"pytest ended with status %s before it collected anything" % _to_text(status)
        if error is not None:
            why = self.crash_of(error)
        if not self.dead:
            self.dead.append((self.tree, why))
        self.bury()
        self.out.write("dead", why=why)

    def fault_in(self, error):
        """The fault of the machine that an error comes from, if it does."""
        seen = []
        while error is not None and not any(error is e for e in seen):
            if isinstance(error, (MemoryError, KeyboardInterrupt)):
                return error
            if isinstance(error, EnvironmentError) and error.errno in FAULTS:
                return error
            seen.append(error)
            excinfo = getattr(error, "excinfo", None)  # of a conftest, in old pytest
            inner = excinfo[1] if isinstance(excinfo, tuple) else None
            error = inner or getattr(error, "__cause__", None) or getattr(error, "__context__", None)
        return None

    def crash_of(self, error):
        cause = getattr(error, "cause", None) or getattr(error, "__cause__", None)
        excinfo = getattr(error, "excinfo", None)
        if cause is None and excinfo is not None:
            cause = excinfo[1]
        said = u"%s: %s" % (type(cause or error).__name__, _to_text(cause or error))
        if type(error).__name__ == "UsageError":
            said = u"\n".join(_to_text(a) for a in error.args)  # written for users of pytest
        path = getattr(error, "path", None)
        if path:
            said = u"%s: %s" % (self.relative(path), said)
        return said.strip()[-MAX_WHY:]

    def bury(self):
        """Names the test files below folders that did not load."""
        patterns = ["test_*.py", "*_test.py"]
        config = getattr(self, "config", None)
        if config is not None:
            try:
                patterns = list(config.getini("python_files")) or patterns
            except Exception:
                pass
        for folder, why in self.dead:
            for top, folders, files in os.walk(folder):
                folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("node_modules", "build", "dist", "venv", "__pycache__"))
                for name in sorted(files):
                    path = self.relative(os.path.join(top, name))
                    if path not in self.loaded and any(fnmatch.fnmatch(name, os.path.basename(p)) for p in patterns):
                        self.loaded.add(path)
                        self.out.write("unit", unit=path, outcome=u"failed", why=why)
        self.dead = []

    def select(self, config, items):
        listed, order = {}, []
        for item in items:
            test, unit = self.name(item.nodeid)
            if unit not in listed:
                listed[unit] = []
                order.append(unit)
            listed[unit].append(test)
        for unit in order:
            ids = listed[unit]
            for i in range(0, len(ids), LIST_CHUNK):
                self.out.write("listed", unit=unit, ids=ids[i:i + LIST_CHUNK])
        if not self.skip:
            return
        out = [i for i in items if self.name(i.nodeid)[0] in self.skip]
        if out:
            config.hook.pytest_deselected(items=out)
            items[:] = [i for i in items if self.name(i.nodeid)[0] not in self.skip]

    # Running

    def begin(self, nodeid):
        test, unit = self.name(nodeid)
        self.out.write("begin", id=test, unit=unit)

    def phase(self, report):
        test, unit = self.name(report.nodeid)
        fields = {"id": test, "unit": unit, "when": _to_text(report.when), "outcome": _to_text(report.outcome)}
        if hasattr(report, "wasxfail"):
            fields["xfail"] = True
        if hasattr(report, "context") and "subtest" in type(report).__name__.lower():
            fields["sub"] = True
        if report.outcome != "passed":
            fields["why"] = self.why(report)
        self.out.write("phase", **fields)

    def end(self, nodeid):
        test, unit = self.name(nodeid)
        self.out.write("end", id=test, unit=unit)

    def why(self, report):
        """The failing assertion, short: a note for people."""
        try:
            longrepr = report.longrepr
            if isinstance(longrepr, tuple):  # a skip: (path, line, reason)
                return _to_text(longrepr[-1])[:MAX_WHY]
            crash = getattr(longrepr, "reprcrash", None)
            if crash is not None:
                return (u"%s:%s: %s" % (self.relative(crash.path), crash.lineno, _to_text(crash.message)))[:MAX_WHY]
            return _to_text(longrepr)[-MAX_WHY:]
        except Exception:
            return u"<no text>"

    def finish(self, session, status):
        self.bury()
        status = int(getattr(session, "exitstatus", status))
        self.through = status in (0, 1, 5)
        self.out.write("finish", status=status)


def hooks(plugin, pytest):
    """Binds the plugin to the hooks, with the signatures of the pytest at hand."""

    class Hooks(object):
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_load_initial_conftests(self, early_config):
            outcome = yield
            error = (getattr(outcome, "excinfo", None) or (None, None))[1]
            if error is not None:
                plugin.failed(error)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config):
            plugin.cmdline_main(config)
            outcome = yield
            error = (getattr(outcome, "excinfo", None) or (None, None))[1]
            if error is not None:
                plugin.failed(error)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_parse(self):
            outcome = yield
            error = (getattr(outcome, "excinfo", None) or (None, None))[1]
            if error is not None:
                plugin.failed(error)

        def pytest_internalerror(self, excinfo):
            plugin.failed(excinfo.value)

        def pytest_keyboard_interrupt(self, excinfo):  # of pytest.exit too
            plugin.failed(excinfo.value)

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionstart(self, session):
            plugin.session_start(session)

        def pytest_collectstart(self, collector):
            plugin.collect_start(collector)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_make_collect_report(self, collector):
            outcome = yield
            if getattr(outcome, "excinfo", None) is None:
                plugin.collect_report(collector, outcome.get_result())

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(self, config, items):
            yield
            plugin.select(config, items)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logstart(self, nodeid):
            plugin.begin(nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report):
            plugin.phase(report)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logfinish(self, nodeid):
            plugin.end(nodeid)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionfinish(self, session, exitstatus):
            yield
            plugin.finish(session, exitstatus)

    if int(pytest.__version__.split(".")[0]) >= 7:
        def pytest_ignore_collect(self, collection_path):
            return plugin.ignore(collection_path)
    else:
        def pytest_ignore_collect(self, path):
            return plugin.ignore(path)
    Hooks.pytest_ignore_collect = pytest_ignore_collect
    return Hooks()


def main(argv):
    with open(argv[1], "rb") as f:
        config = json.loads(f.read().decode("utf-8"))
    try:
        os.remove(argv[1])  # the nonce: tests find it in this process only, if they look hard
    except EnvironmentError:
        pass
    # sys.path and argv as pytest's own start would have left them.
    if argv[2] == "module":
        sys.path[0] = os.getcwd()
    else:
        sys.path[0] = os.path.dirname(sys.executable)
    writer = Writer(config["report"], config["nonce"])
    writer.write("boot")
    plugin = Plugin(config, writer)
    try:
        import pytest
        sys.argv[:] = [os.path.join(os.path.dirname(sys.executable), "pytest")] + argv[3:]
        status = int(pytest.main(argv[3:], plugins=[hooks(plugin, pytest)]) or 0)
    except BaseException as error:
        plugin.ended(1, error)
        raise
    plugin.ended(status)
    return status


if __name__ == "__main__":
    sys.exit(main(list(sys.argv)))
