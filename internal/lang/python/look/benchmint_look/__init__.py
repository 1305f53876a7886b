"""What all hooks share: telling facts, saying where code stands, and waiting for modules.

A hook is a module hook_NAME of this folder. Its MODULES gives, for each module of a framework, what to do
when a program has loaded it; its tables, added to TABLES, tell all routes that are known by now. Facts are
those of benchmint's package internal/look, one line of JSON each, in the file that BENCHMINT_LOOK names;
BENCHMINT_LOOK_TREE is the tree of the service.

Nothing here raises into the service: what we do stands in `quiet` or `guarded`. Each fact is told once in a
process. The file is opened for each line, in append mode: lines of forked workers do not mix, and a service
that closes all descriptors breaks nothing.
"""
import functools
import importlib
import json
import os
import sys
from _thread import _local

OUT = os.environ.get("BENCHMINT_LOOK", "")
TREE = os.path.realpath(os.environ.get("BENCHMINT_LOOK_TREE") or "/testbed")
START = os.getcwd() if OUT else ""
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
LIBRARIES = ("/site-packages/", "/dist-packages/")
ARGUMENTS = 0x04 | 0x08  # the flags of code that takes *args or **kwargs
LOOPS = ("/asyncio/events.py", "/asyncio/base_events.py")

MOST_BYTES = 7 << 20  # of the file: a reader takes 8 MiB
MOST_LINE = 60 << 10
MOST_TEXT = 1000
MOST = {"route": 2000, "request": 5000, "env of a library": 300}  # of each other kind 1000

TABLES = []  # functions that tell the routes that are known
DISPATCH = set()  # code in which a request begins: what is below on the stack is not the request's
told, counts, places, state = set(), {}, {}, _local()
began = [""]  # the last request


class quiet:
    """A block whose errors are dropped, and in which nothing is noted."""

    def __enter__(self):
        state.quiet = getattr(state, "quiet", 0) + 1

    def __exit__(self, kind, error, trace):
        state.quiet -= 1
        return kind is not None and issubclass(kind, Exception)


def noting():
    return not getattr(state, "quiet", 0)


def aloud(f, *args):
    """Calls code of the service from a quiet block: what it asks for is noted."""
    kept, state.quiet = getattr(state, "quiet", 0), 0
    try:
        return f(*args)
    finally:
        state.quiet = kept


def guarded(f):
    """f in a quiet block: its errors are dropped, and inside of another such block it is not called."""
    @functools.wraps(f)
    def call(*args, **kwargs):
        if noting():
            with quiet():
                return f(*args, **kwargs)
    return call


def tell(fact, **fields):
    """Writes a fact without what is empty: once in a process, bodies and keys once for each request of a path."""
    said = {k: v for k, v in fields.items() if v not in ("", None, False, [], 0)}
    long = {k for k, v in said.items() if isinstance(v, str) and len(v.encode("utf-8", "replace")) > MOST_TEXT}
    if long - {"default"}:
        return
    line = json.dumps({k: v for k, v in dict(said, fact=fact).items() if k not in long}, sort_keys=True, default=str)
    if len(line) > MOST_LINE:  # a route counts without its schemas
        line = json.dumps({k: v for k, v in dict(said, fact=fact).items() if k not in long | {"takes", "fields"}}, sort_keys=True, default=str)
    once = (line, began[0]) if fact in ("body", "key") else line  # these belong to the request before
    kind = "env of a library" if fact == "env" and not said.get("at") else fact
    if len(line) > MOST_LINE or counts.get(kind, 0) >= MOST.get(kind, 1000) or once in told and fact != "request":
        return
    counts[kind] = counts.get(kind, 0) + 1
    told.add(once)
    out = os.open(OUT, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if os.fstat(out).st_size + len(line) < MOST_BYTES:
            os.write(out, (line + "\n").encode("ascii"))
    finally:
        os.close(out)


def inside(name):
    """The absolute path of a file of the tree; None for others."""
    if name not in places:
        path = os.path.normpath(os.path.join(START, name))
        here = not name.startswith("<") and not any(part in path for part in LIBRARIES)
        real = os.path.realpath(path) if here else ""
        places[name] = path if path.startswith(TREE + os.sep) else real
        if not here or not places[name].startswith(TREE + os.sep):
            places[name] = None
    return places[name]


def at(frame):
    """"file:line" of the innermost frame of the tree that made a call; "" where a library did it while it
    was imported, or where a framework did it before it called the service."""
    while frame is not None:
        code = frame.f_code
        path = inside(code.co_filename)
        if path:
            return "%s:%d" % (path, frame.f_lineno)
        if code in DISPATCH or code.co_filename.startswith("<frozen importlib") or code.co_filename.endswith(LOOPS):
            return ""
        frame = frame.f_back
    return ""


def asked():
    """at of what called into this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(HERE) and frame.f_code not in DISPATCH:
        frame = frame.f_back
    return at(frame)


def before(owner, name, note):
    """Calls note with the arguments of each call of a function or method first."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        guarded(note)(*args, **kwargs)
        return function(*args, **kwargs)
    setattr(owner, name, call)


def requests(owner, name, note):
    """Calls note with the arguments of each call that serves a request."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def dispatch(*args, **kwargs):
        guarded(note)(*args, **kwargs)
        return function(*args, **kwargs)
    DISPATCH.add(dispatch.__code__)
    setattr(owner, name, dispatch)


def after(owner, name, note):
    """Calls note with the arguments after each call that returned; what note gives replaces the result,
    unless it is None."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        instead = guarded(note)(result, *args, **kwargs)
        return result if instead is None else instead
    setattr(owner, name, call)


def handler(f):
    """Func, File, Line and Wraps of the function that answers behind decorators, partials and methods; and its
    module."""
    wraps, seen = [], set()
    while f is not None and id(f) not in seen:
        seen.add(id(f))
        inner = behind(f)
        if inner is None:
            break
        if getattr(f, "__code__", None) not in (None, getattr(inner, "__code__", None)):  # a method is its function
            wraps.append(named(f))
        f = inner
    code = getattr(f, "__code__", None)
    if code is None:  # an object that is called
        call = getattr(type(f), "__call__", None)
        code = getattr(call, "__code__", None)
        if code is None:
            return {"func": getattr(f, "__qualname__", type(f).__qualname__), "wraps": wraps}, getattr(f, "__module__", None) or ""
        f = call
    where = {"file": os.path.normpath(os.path.join(START, code.co_filename)), "line": code.co_firstlineno}
    return dict(where, func=f.__qualname__, wraps=wraps), f.__module__ or ""


def behind(f):
    """What a decorator, a partial or a method calls; None where f is the function itself."""
    for name in ("__wrapped__", "__func__", "func"):
        inner = getattr(f, name, None)
        if callable(inner) and (name != "func" or isinstance(f, functools.partial)):
            return inner
    # A decorator that says nothing of what it wraps: it takes any arguments, and holds just one
    # function of the tree.
    code = getattr(f, "__code__", None)
    if code is None or "<locals>" not in getattr(f, "__qualname__", "") or not code.co_flags & ARGUMENTS:
        return None
    held = []
    for cell in f.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # it is empty
            continue
        value = getattr(value, "__func__", value)
        if hasattr(value, "__code__") and value is not f and ours(value):
            held.append(value)
    return held[0] if len(held) == 1 else None


def ours(f):
    """Whether a function stands in the tree, or wraps one that does."""
    while f is not None:
        code = getattr(f, "__code__", None)
        if code is not None and inside(code.co_filename):
            return True
        f = getattr(f, "__wrapped__", None)
    return False


def named(f):
    """module.name of the code of a function, whatever name it took over from what it wraps."""
    code = f.__code__
    name = getattr(code, "co_qualname", code.co_name)
    return "%s.%s" % (getattr(f, "__globals__", {}).get("__name__", "?"), name)


def route(framework, methods, path, f, owner=None, doc=False, takes=(), wraps=()):
    """Tells the route of each method; "" is any. owner is the class whose method f is."""
    who, module = handler(f)
    who["wraps"] = (list(wraps) + who["wraps"])[:20]
    module = getattr(owner, "__module__", module).split(".")[0]
    for method in sorted(methods) or [""]:
        tell("route", framework=framework, method=method, path=path, doc=doc or module in DOCS, takes=[t for t in takes if t][:8], **who)


# DOCS are packages whose handlers are documentation, static files and the like.
DOCS = {
    "apifairy", "apiflask", "django", "drf_spectacular", "drf_yasg", "fastapi", "flasgger", "flask", "flask_apispec", "flask_openapi3",
    "flask_restx", "flask_smorest", "flask_swagger_ui", "aiohttp_swagger", "aiohttp_apispec", "ninja", "rest_framework", "starlette",
}


def tables():
    """Tells all routes that are known by now. It is called in a quiet block."""
    for table in TABLES:
        with quiet():
            table()


def request(method, path):
    """Tells that a request begins; the first one also tells what routes came after the start."""
    if "request" not in counts:
        tables()
    began[0] = "%s %s" % (method, path)
    tell("request", method=method, path=path)


class Finder:
    """Calls a hook when a module of its framework has been loaded. It finds nothing itself."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        loaded = self.modules.get(name)
        if loaded is None:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                with quiet():
                    self.wrap(spec.loader, loaded)
                return spec
        return None

    @staticmethod
    def wrap(loader, loaded):
        """Puts the hook after the loading of one module; a loader that cannot be changed stays as it is."""
        name = "exec_module" if hasattr(loader, "exec_module") else "load_module"
        load = getattr(loader, name)

        def run(module):
            result = load(module)
            with quiet():
                delattr(loader, name)
            with quiet():
                loaded(result if name == "load_module" else module)
            return result
        setattr(loader, name, run)


def start():
    """Loads the hooks beside this file, and waits for the modules that they name."""
    if not OUT:
        return
    modules = {}
    for name in sorted(os.listdir(os.path.dirname(__file__))):
        if name.startswith("hook_") and name.endswith(".py"):
            with quiet():
                for module, loaded in importlib.import_module("%s.%s" % (__name__, name[:-3])).MODULES.items():
                    modules.setdefault(module, []).append(loaded)
    each = {name: functools.partial(run, all) for name, all in modules.items()}
    for name in list(each):
        if name in sys.modules:
            with quiet():
                each[name](sys.modules[name])
    sys.meta_path.insert(0, Finder(each))


def run(all, module):
    for loaded in all:
        loaded(module)
