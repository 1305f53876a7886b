"""Runs pytest and reports what it did, out of band, as JSON lines.

Started as a script, in pytest's place, by an interpreter without its environment:
    python -S benchmint_pytest.py - script|module [pytest arguments]
Its settings come by descriptor 8 and are gone once they are read; the report leaves by
descriptor 9. A file with the settings in the place of "-" names the report's file.

It works on CPython 2.7 to 3.13 and pytest 4.6 to 9, and never prints. Tests
share this process: they may fork, exit, crash, change the directory, close
descriptors or replace modules. So everything that is needed later is bound before
any code of the environment is loaded (.pth files and sitecustomize too), records are
written with one system call each, and only the process that started the session writes.
Code that searches this process's memory for us can still speak in our name.

PYTEST_DONT_REWRITE
"""
import sys

if sys.path[:1] == [__file__.rpartition("/")[0]]:  # not so where PYTHONSAFEPATH is set
    del sys.path[0]
import ast  # noqa: E402
import errno  # noqa: E402
import fcntl  # noqa: E402
import fnmatch  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import resource  # noqa: E402
import threading  # noqa: E402

GIVEN, REPORT = 8, 9  # descriptors
MAX_WHY = 2000  # characters of a failure's text; the log has the rest
MAX_TRACE, ALL_TRACES = 6000, 1 << 20  # characters of what pytest prints of one failure, and of all: the report is bounded
LIST_CHUNK = 500  # test IDs per record, to keep lines short
# What the machine, and no code, answers a system call with.
FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EIO)

_text = type(u"")
_self = sys.modules[__name__]  # Python 2 empties a module that nobody names


def _to_text(value):
    if isinstance(value, _text):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return _text(value)
    except Exception:  # a hostile __str__ must not end the session
        return u"<unprintable %s>" % type(value).__name__


def out_of_reach(fd):
    """The descriptor under a number that tests which close "all" of them do not mean."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = soft if hard > soft else min(soft, 65536) - 8
    try:
        if hard > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft + 1, hard))
        high = fcntl.fcntl(fd, 1030, number)  # F_DUPFD_CLOEXEC, which 2.7 does not name
    except (EnvironmentError, ValueError):
        fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
        return fd
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.close(fd)
    return high


def writer(fd, nonce):
    """The function that writes records. All that it calls is bound here.

    Each record has the nonce and its number and stands on a line of its own: one that is
    missing or that came twice is seen.
    """
    getpid, put, pid, error, again = os.getpid, os.write, os.getpid(), EnvironmentError, errno.EINTR
    quote, kind_of, integer, sequence, items = json.encoder.encode_basestring_ascii, type, int, list, dict.items
    lock, count = threading.Lock(), [0]
    head = '\n{"n":' + quote(_to_text(nonce)) + ',"i":'

    def encode(value):
        if value is True:
            return "true"
        if kind_of(value) is integer:
            return "%d" % value
        if kind_of(value) is sequence:
            return "[" + ",".join([quote(v) for v in value]) + "]"
        return quote(value)

    def write(kind, **fields):
        if getpid() != pid:
            return  # a forked child: its outcome is its parent's to tell
        lock.acquire()
        try:
            line = "".join([',"' + name + '":' + encode(value) for name, value in items(fields)])
            data = (head + "%d" % count[0] + ',"t":"' + kind + '"' + line + "}\n").encode("ascii")
            while data:
                try:
                    data = data[put(fd, data):]
                except error as err:
                    if err.errno != again:
                        raise
            count[0] += 1
        finally:
            lock.release()

    return write


class Plugin(object):
    """The hooks. One object for one session: sessions inside tests have their own plugins."""

    def __init__(self, config, write):
        self.write, self.seed = write, config.get("number", 0)
        self.canaries, self.places = config.get("canaries") or [], {}
        self.raised = {}
        self.traces = ALL_TRACES if config.get("traces") else 0
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
        self.write("start", python=u"%d.%d.%d" % sys.version_info[:3], pytest=_to_text(pytest.__version__))

    # Collection

    def ignore(self, path):
        if self.relative(path) in self.skip:
            return True
        return None

    def collect_start(self, collector):
        if self.is_file(collector):
            self.met = True
            self.write("loading", unit=self.relative(self.file_of(collector)))

    def is_file(self, collector):
        import pytest
        package = getattr(pytest, "Package", ())
        return isinstance(collector, pytest.File) and not isinstance(collector, package)

    def collect_report(self, collector, report):
        path = self.relative(self.file_of(collector) or self.root)
        if self.is_file(collector):
            if report.outcome == "passed":
                self.loaded.add(path)
                self.write("loaded", unit=path)
            else:
                self.loaded.add(path)
                self.write("unit", unit=path, outcome=_to_text(report.outcome), why=self.why(report))
        elif report.outcome == "failed":
            head, sep, _ = _to_text(report.nodeid).partition(u"::")
            if sep:  # a class of a file that loaded
                self.write("unit", unit=self.relative(head), outcome=u"failed", why=self.why(report))
            else:  # a folder: the files below were never met
                self.dead.append((self.folder(collector), self.why(report)))

    def folder(self, collector):
        path = self.file_of(collector)
        if not _to_text(collector.nodeid) or not path:
            return self.tree  # the session itself: old pytest loses everything for one conftest
        return path if os.path.isdir(path) else os.path.dirname(path)

    def noted(self, outcome):
        """Keeps the error of a hook's outcome."""
        error = (getattr(outcome, "excinfo", None) or (None, None))[1]
        if error is not None:
            self.failed(error)

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
            self.write("fault", why=self.crash_of(fault))
            return
        why = u"pytest ended with status %s before it collected anything" % _to_text(status)
        if error is not None:
            why = self.crash_of(error)
        if not self.dead:
            self.dead.append((self.tree, why))
        self.bury()
        self.write("dead", why=why)

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
                        self.write("unit", unit=path, outcome=u"failed", why=why)
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
                self.write("listed", unit=unit, ids=ids[i:i + LIST_CHUNK])
        if not self.skip:
            return
        out = [i for i in items if self.name(i.nodeid)[0] in self.skip]
        if out:
            config.hook.pytest_deselected(items=out)
            items[:] = [i for i in items if self.name(i.nodeid)[0] not in self.skip]

    # Running

    def begin(self, nodeid):
        test, unit = self.name(nodeid)
        self.write("begin", id=test, unit=unit)

    def phase(self, report):
        test, unit = self.name(report.nodeid)
        fields = {"id": test, "unit": unit, "when": _to_text(report.when), "outcome": _to_text(report.outcome)}
        raised = self.raised.get(report.nodeid)
        if report.when == "call" and report.outcome == "passed" and raised and not hasattr(report, "wasxfail"):
            # Of what was seen and what is said, the worse counts.
            fields["outcome"], fields["why"] = u"failed", u"it raised %s, and its report says that it passed" % raised
        if hasattr(report, "wasxfail"):
            fields["xfail"] = True
        if hasattr(report, "context") and "subtest" in type(report).__name__.lower():
            fields["sub"] = True
        if report.outcome != "passed":
            fields["why"] = self.why(report)
            fields.update(self.trace(report))
        self.write("phase", **fields)

    def end(self, nodeid):
        test, unit = self.name(nodeid)
        self.write("end", id=test, unit=unit)

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

    def trace(self, report):
        """What pytest prints of a failure, as fields: frames, assertion, and what the test printed."""
        if self.traces <= 0 or report.outcome != "failed":
            return {}
        try:
            said = middle_out(_to_text(report.longrepr), MAX_TRACE)
            printed = u"\n".join(u"--- %s ---\n%s" % (_to_text(title), _to_text(text).rstrip()) for title, text in report.sections)
            if printed:
                said += u"\n" + middle_out(printed, MAX_TRACE // 3)
        except Exception:
            return {}
        self.traces -= len(said)
        if self.traces <= 0:
            said += u"\n[the traces of later failures are left out]"
        return {"trace": said}

    # Canaries: tests of ours, among the others, that must pass or must fail. What they are
    # called and which is which was given. Hooks that say of every test that it passed are
    # told by them. No report of theirs is logged, so that nothing counts them.

    def plant(self, session):
        if not self.canaries or not session.items:
            return
        import pytest
        why = None
        if not session.config.pluginmanager.hasplugin("python"):
            why = u"the plugin that runs test functions is off"
        places = [] if why else self.free_places(session, pytest)
        if why is None and not places:
            why = u"there is no place for them"
        if why is not None:
            self.write("unwatched", why=why)
            return
        for canary in self.canaries:
            item, parent = places[canary["place"] % len(places)]
            self.places.setdefault(id(item), []).append((canary, parent))

    def free_places(self, session, pytest):
        """(item, parent) where a canary of parent can run before item: all that is set up
        then is set up for the item as well, and no mark of the parent is the canary's.
        """
        places, previous = [], None
        for item in session.items:
            module = item.getparent(pytest.Module)
            if module is not None and "Doctest" not in type(module).__name__ and not marked(module):
                above = module.listchain()
                held = [] if previous is None else previous.listchain()[:-1]
                if not any(node in held and node not in above for node in item.listchain()[:-1]):
                    places.append((item, module))
            previous = item
        # Before the first test nothing is set up: a suite of other things has this place.
        return places or [(session.items[0], session)]

    def watch(self, item):
        for canary, parent in self.places.pop(id(item), ()):
            name, ran = _to_text(canary["name"]), []
            try:
                outcome = self.outcome_of(self.canary(canary, parent, ran), item)
            except Exception as error:  # of a hook that wants other tests than this
                outcome = u"void: %s" % type(error).__name__
                self.forget(item)
            self.write("canary", id=name, outcome=outcome, ran=len(ran))

    def canary(self, canary, parent, ran):
        """A test function without fixtures, not even those that every test has."""
        import pytest
        from _pytest.fixtures import FuncFixtureInfo
        scope = {"ran": ran}
        code = "def %s():\n    ran.append(1)\n    assert %d == %d\n" % (canary["name"], canary["left"], canary["right"])
        exec(compile(code, self.file_of(parent), "exec"), scope)
        try:
            info = FuncFixtureInfo(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
        except TypeError:  # before pytest 3.9
            info = FuncFixtureInfo(argnames=(), names_closure=[], name2fixturedefs={})
        make = getattr(pytest.Function, "from_parent", None)
        fields = {"name": str(canary["name"]), "callobj": scope[canary["name"]], "fixtureinfo": info}
        return make(parent, **fields) if make else pytest.Function(parent=parent, **fields)

    def outcome_of(self, test, following):
        from _pytest import runner
        reports = dict((r.when, r) for r in runner.runtestprotocol(test, log=False, nextitem=following))
        call = reports.get("call")
        if call is None or reports["setup"].outcome != "passed":
            return u"void"
        return u"xfailed" if hasattr(call, "wasxfail") else _to_text(call.outcome)

    def forget(self, following):
        """Takes off what is left of a canary, so that the next test can be set up."""
        state = following.session._setupstate
        try:
            state.teardown_exact(following)
        except TypeError:  # before pytest 7
            state.teardown_exact(None, following)

    def finish(self, session, status):
        self.bury()
        status = int(getattr(session, "exitstatus", status))
        self.through = status in (0, 1, 5)
        self.write("finish", status=status)


def middle_out(text, most):
    """A text of at most so many characters, but for the note where its middle was."""
    if len(text) <= most:
        return text
    return u"%s\n[%d characters left out]\n%s" % (text[:most // 2], len(text) - most // 2 * 2, text[-(most // 2):])


def marked(module):
    if hasattr(module, "iter_markers"):
        return any(True for _ in module.iter_markers())
    return bool(getattr(module.obj, "pytestmark", None))  # before pytest 3.6


def hooks(plugin, pytest):
    """Binds the plugin to the hooks, with the signatures of the pytest at hand."""
    begin, phase, end, watch, raised = plugin.begin, plugin.phase, plugin.end, plugin.watch, plugin.raised

    class Running(object):
        """Registered after everything of the tree, and so called before it: a report is
        seen as pytest made it.
        """

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            watch(item)
            yield

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_call(self, item):
            raised.pop(item.nodeid, None)  # of a run before this one
            outcome = yield
            error = (getattr(outcome, "excinfo", None) or (None,))[0]
            if error is not None:
                raised[item.nodeid] = _to_text(error.__name__)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logstart(self, nodeid):
            begin(nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report):
            phase(report)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logfinish(self, nodeid):
            end(nodeid)

    class Hooks(object):
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_load_initial_conftests(self, early_config):
            plugin.noted((yield))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config):
            plugin.cmdline_main(config)
            plugin.noted((yield))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_parse(self):
            plugin.noted((yield))

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

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtestloop(self, session):
            session.config.pluginmanager.register(Running())
            plugin.plant(session)
            yield

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


def given(source):
    """The settings, and the descriptor of the report. They can be read but once."""
    if source == "-":
        data = b""
        while True:
            more = os.read(GIVEN, 1 << 16)
            if not more:
                break
            data += more
        os.close(GIVEN)
        return json.loads(data.decode("utf-8")), REPORT
    with open(source, "rb") as f:
        config = json.loads(f.read().decode("utf-8"))
    try:
        os.remove(source)
    except EnvironmentError:
        pass
    return config, os.open(config["report"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def visible_flags():
    """sys.flags as they are without -S, which children of multiprocessing would inherit."""
    real = sys.flags
    names = re.findall(r"(\w+)=", repr(real))
    values = dict((n, getattr(real, n)) for n in dir(real) if not n.startswith("_") and n not in ("count", "index"))
    values["no_site"] = 0
    shown = "sys.flags(%s)" % ", ".join("%s=%r" % (n, values[n]) for n in names)
    flags = type("flags", (tuple,), dict(values, __slots__=(), __module__="sys", __repr__=lambda self: shown))
    return flags(values[n] for n in names)


def native(text):
    return text if isinstance(text, str) else text.encode("utf-8")


def enter(config):
    """Makes of the bare interpreter that of the environment, in the order of its own start."""
    if not sys.flags.no_site:
        return
    if config.get("python"):
        sys.executable = native(config["python"])
    variables = dict((native(k), native(v)) for k, v in (config.get("withheld") or {}).items())
    os.environ.update(variables)
    if variables.get("PYTHONPATH"):
        sys.path[:0] = variables["PYTHONPATH"].split(os.pathsep)
    if variables.get("PYTHONPYCACHEPREFIX"):
        sys.pycache_prefix = variables["PYTHONPYCACHEPREFIX"]
    flags = visible_flags()
    if sys.version_info < (3, 3):  # whose site runs its main when it is imported, flag or not
        sys.flags = flags
        import site
        return
    import site
    sys.flags = flags
    before = dict(os.environ)
    if config.get("loads"):
        only_known(site, config["loads"])
    site.main()
    if config.get("loads"):
        for name in set(os.environ) | set(before):
            if name.startswith(("PYTEST", "PYTHON")) and os.environ.get(name) != before.get(name):
                os.environ.pop(name, None)
                if name in before:
                    os.environ[name] = before[name]


# What loads of itself: lines of .pth files, sitecustomize, entry points of pytest. A built environment of the task tells
# which there are; in that of an answer nothing else is loaded.

FINDER = re.compile(r"import (__editable___\w+_finder); ?\1\.install\(\)")
# Data in setuptools' finders.
GENERATED = re.compile(r"(?m)^(?:MAPPING|NAMESPACES|PATH_PLACEHOLDER)(?:: [\w\[\], ]+)? = (.*?)(?: \+ \"\.__path_hook__\")?$")
# Where one Python ends a line of a .pth file and another does not, or one reads another text.
ODD = re.compile(u"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ufeff\ufffd]")


def without_data(match):
    try:
        ast.literal_eval(match.group(1))
    except (SyntaxError, ValueError):
        return match.group(0)  # it is code
    return u""


def code_lines(folder, text):
    """The lines of a .pth file that are executed. A finder that setuptools made is known by what it does."""
    for line in text.splitlines():
        if not line.startswith(("import ", "import\t")):
            continue
        line = line.strip()
        finder = FINDER.match(line)
        if finder and finder.group(0) == line:
            line = "finder " + GENERATED.sub(without_data, read_text(os.path.join(folder, finder.group(1) + ".py")))
        yield line


def read_text(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode("utf-8", "replace")
    except EnvironmentError:
        return ""


def only_known(site, loads):
    lines, paths = set(loads["lines"]), set(loads["paths"])
    add = site.addpackage

    def addpackage(folder, name, known):
        text = read_text(os.path.join(folder, name))
        here = [os.path.realpath(os.path.join(folder, line.strip())) for line in text.splitlines() if not line.startswith(("import ", "import\t", "#"))]
        inside = all(p in paths or not os.path.exists(p) or (p + os.sep).startswith(loads["tree"] + os.sep) for p in here)
        if inside and not ODD.search(text) and all(line in lines for line in code_lines(folder, text)):
            return add(folder, name, known)
        return known

    site.addpackage = addpackage
    for name in ("sitecustomize", "usercustomize"):
        if name not in loads["modules"] and hasattr(site, "exec" + name):
            setattr(site, "exec" + name, lambda: None)


def entry_points():
    """(name, value, entry point) of all plugins that pytest would load."""
    try:
        from importlib import metadata
    except ImportError:
        try:
            import importlib_metadata as metadata
        except ImportError:
            import pkg_resources
            return [(_to_text(e.name), _to_text(str(e).partition("=")[2].strip()), e) for e in pkg_resources.iter_entry_points("pytest11")]
    return [(_to_text(e.name), _to_text(e.value), e) for d in metadata.distributions() for e in d.entry_points if e.group == "pytest11"]


def only_known_plugins(loads):
    import pluggy
    manager = pluggy.PluginManager
    load, blocked = manager.load_setuptools_entrypoints, manager.is_blocked
    known = set(tuple(p) for p in loads["plugins"])

    def load_known(self, group, name=None):
        strange = set(n for n, value, _ in entry_points() if (n, value) not in known)
        loaded = 0
        for n, value, point in entry_points():  # those that a strange one has the name of: pluggy blocks by names
            if n in strange and (n, value) in known and name in (None, n) and not self.get_plugin(n) and not blocked(self, n):
                self.register(point.load(), name=n)
                loaded += 1
        self.is_blocked = lambda n: n in strange or blocked(self, n)
        try:
            return loaded + (load(self, group, name) if name else load(self, group))
        finally:
            del self.is_blocked

    manager.load_setuptools_entrypoints = load_known
    from _pytest.assertion import rewrite
    rewrite._read_pyc = lambda *args, **kwargs: None  # what a test compiled to is believed by a time and a size


def only_given(tree):
    """Finds what was in the tree before anything of it ran, and no package or compiled module that came in its place."""
    try:
        from importlib import machinery, util
    except ImportError:
        return
    there, find = set(), machinery.PathFinder.find_spec
    for top, folders, files in os.walk(tree):
        folders[:] = [f for f in folders if f != ".git"]
        there.update(os.path.join(top, f) for f in files + [""])

    def given(_, name, path=None, target=None):
        spec = find(name, path, target)
        origin = getattr(spec, "origin", None) or ""
        if origin in there or not origin.startswith(tree + os.sep):
            return spec
        folder, base = os.path.split(origin)
        package = base.startswith("__init__.")
        if package and os.path.join(folder, "") in there:
            spec = machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [folder]
            return spec
        source = os.path.join(os.path.dirname(folder) if package else folder, name.rpartition(".")[2] + ".py")
        return util.spec_from_file_location(name, source) if source in there else spec

    machinery.PathFinder.find_spec = classmethod(given)


def loads(tree):
    """What the environment of the task loads of itself."""
    lines, paths, names = [], [], set(sys.builtin_module_names)
    for folder in sys.path:
        if not os.path.isdir(folder):
            continue
        paths.append(os.path.realpath(folder))
        for name in os.listdir(folder):
            if name.endswith(".pth"):
                lines.extend(code_lines(folder, read_text(os.path.join(folder, name))))
            if not (folder + os.sep).startswith(tree + os.sep):
                names.add(name.partition(".")[0])
    modules = [m for m in ("sitecustomize", "usercustomize") if m in sys.modules]
    return {"tree": tree, "lines": lines, "paths": paths, "plugins": [p[:2] for p in entry_points()], "modules": modules, "names": sorted(names)}


def become(style, program):
    """Puts the main module of pytest's own start in this one's place."""
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    if style == "module":
        main.__spec__ = getattr(sys.modules["pytest"], "__spec__", None)
        main.__package__ = "pytest" if os.path.basename(program) == "__main__.py" else ""
    if os.path.exists(program):
        main.__file__ = program
    sys.modules["__main__"] = main


def main(argv):
    config, fd = given(argv[1])
    write = writer(out_of_reach(fd), config["nonce"])
    write("boot")
    plugin = Plugin(config, write)
    config["nonce"] = None
    enter(config)
    if argv[2] == "loads":
        write("loads", why=json.dumps(loads(os.path.realpath(config["tree"]))))
        return 0
    # sys.path and argv as pytest's own start would have left them.
    if not getattr(sys.flags, "safe_path", False):
        here = "" if sys.version_info < (3, 7) else os.getcwd()
        sys.path.insert(0, here if argv[2] == "module" else os.path.dirname(sys.executable))
    if config.get("loads"):
        only_given(os.path.realpath(config["tree"]))
    try:
        import pytest
        if config.get("loads"):
            only_known_plugins(config["loads"])
        program = os.path.join(os.path.dirname(sys.executable), "pytest")
        if argv[2] == "module":
            program = re.sub(r"\.pyc$", ".py", pytest.__file__)  # before pytest 5 it is no package
            if os.path.basename(program) == "__init__.py":
                program = os.path.join(os.path.dirname(program), "__main__.py")
        become(argv[2], program)
        sys.argv[:] = [program] + argv[3:]
        status = int(pytest.main(argv[3:], plugins=[hooks(plugin, pytest)]) or 0)
    except BaseException as error:
        plugin.ended(1, error)
        raise
    plugin.ended(status)
    return status


if __name__ == "__main__":
    sys.exit(main(list(sys.argv)))
