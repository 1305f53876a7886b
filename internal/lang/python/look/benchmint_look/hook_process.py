"""What a process asks of the system: variables, files that are not there, connections, and that it listens."""
import builtins
import io
import os
import sys
import sysconfig

from . import HERE, after, asked, before, guarded, inside, noting, state, tables, tell, TREE

STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
PASSING = ("/os.py", "/_collections_abc.py", "<frozen os>", "<frozen _collections_abc>")  # what is asked there is asked by a caller
SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".pem", ".key")


class Environ(os._Environ):
    """os.environ: it notes which variables are asked for. Copying and printing all asks for none."""

    def note(self, name, default=None):
        guarded(self.told)(name, default)

    def told(self, name, default):
        if not isinstance(name, str) or name.startswith(("BENCHMINT_", "PYTHON")):
            return
        if not standard(sys._getframe(1)):
            default = str(default) if isinstance(default, (str, int, float)) else ""
            tell("env", name=name, set=self.encodekey(name) in self._data, default=default, at=asked())

    def __getitem__(self, name):
        listed = getattr(state, "listed", None)
        if listed and listed[-1] == name:
            listed.pop()
        else:
            state.listed = None
            self.note(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.note(name, default)
        key = self.encodekey(name)
        return self.decodevalue(self._data[key]) if key in self._data else default

    def setdefault(self, name, default):
        self.note(name, default)
        key = self.encodekey(name)
        if key not in self._data:
            self[name] = default
        return self.decodevalue(self._data[key])

    def __contains__(self, name):
        self.note(name)
        return isinstance(name, str) and self.encodekey(name) in self._data

    def __iter__(self):
        names = list(super().__iter__())
        state.listed = names[::-1]  # who asks for all in this order copies them
        return iter(names)


def standard(frame):
    """Whether the standard library asks for what it needs itself: a language, the size of a terminal."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(HERE) and not name.endswith(PASSING) and frame.f_code.co_name != "expandvars":
            return name.startswith("<frozen") or name.startswith(STDLIB) and "-packages" not in name
        frame = frame.f_back
    return True


def missing(path, opens):
    """Notes a file of the tree that is not there: each that is opened, of those only looked for settings."""
    if not isinstance(path, (str, bytes)) and not hasattr(path, "__fspath__"):
        return
    path = os.path.abspath(os.fsdecode(path))
    name = os.path.basename(path)
    if path.startswith(TREE + os.sep) and not name.startswith("<") and (opens or name.startswith(".env") or name.endswith(SETTINGS)):
        place = asked()
        if not os.path.lexists(path) and (place or not name.endswith(".py")):  # a traceback looks for sources
            tell("file", path=path, at=place)


def opened(path, mode, flags):
    writes = any(c in mode for c in "wax") if isinstance(mode, str) else bool((flags or 0) & os.O_CREAT)
    if not writes and not str(path).endswith((".pyc", ".so")):
        missing(path, True)


own = {"", "0.0.0.0", "::", None}  # what is listened on, and what names were resolved to: those were told
dialled = set()


def address(host, port, listens=False):
    """Tells what is dialled, with the place of the first time."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if listens:
        own.add((host, port))
    elif port and str(port) != "0" and not {host, (host, port)} & own and (host, port) not in dialled:
        dialled.add((host, port))
        tell("dial", addr="%s:%s" % (host, port), at=asked())


@guarded
def audit(event, args):
    if event == "open":
        opened(*args)
    elif event == "socket.getaddrinfo":
        address(*args[:2], listens=binds())
    elif isinstance(args[1], tuple):
        address(*args[1][:2])


def binds():
    """Whether a name is looked up to be listened on."""
    frame = sys._getframe(1)
    while frame is not None and not inside(frame.f_code.co_filename):
        if frame.f_code.co_name in BINDS:
            return True
        frame = frame.f_back
    return False


BINDS = {"create_server", "bind", "bind_sockets", "server_bind", "select_address_family", "get_sockaddr"}


def audited(event, args):
    if event in ("open", "socket.connect", "socket.getaddrinfo") and noting():
        audit(event, args)


def socket_loaded(module):
    def listens(self, *backlog):
        name = self.getsockname()
        if isinstance(name, tuple):
            own.add(tuple(name[:2]))
            if self.type & 0xF == module.SOCK_STREAM:
                tell("listen", addr="%s:%d" % ("[%s]" % name[0] if ":" in name[0] else name[0], name[1]), at=asked())
        tables()
    before(module.socket, "listen", listens)
    after(module, "getaddrinfo", lambda found, *a, **k: own.update(f[4][0] for f in found if f[4] and f[4][0] not in a))
    if not hasattr(sys, "addaudithook"):  # 3.7
        before(module.socket, "connect", lambda self, to: isinstance(to, tuple) and address(*to[:2]))
        before(module, "getaddrinfo", lambda host, port, *a, **k: address(host, port, listens=binds()))


def asyncio_loaded(module):
    """asyncio looks names up in another thread, where the stack does not show who asked."""
    loop = module.BaseEventLoop
    before(loop, "create_server", lambda self, protocol, host=None, port=None, **k: [address(h, port, listens=True) for h in (host if isinstance(host, (list, tuple)) else [host])])
    before(loop, "create_connection", lambda self, protocol, host=None, port=None, **k: address(host, port))


def uvloop_loaded(module):
    """uvloop listens and connects in C, where nothing is seen: for a look asyncio does the same."""
    import asyncio
    module.new_event_loop, module.Loop, module.install = asyncio.new_event_loop, asyncio.SelectorEventLoop, lambda: None
    module.EventLoopPolicy = asyncio.DefaultEventLoopPolicy


class Stat:
    """os.stat. It is no function: pathlib keeps the one of the system in a class, where a function would be a method."""

    def __init__(self, inner):
        self.inner, self.__name__, self.__doc__ = inner, inner.__name__, inner.__doc__

    def __call__(self, path, *args, **kwargs):
        try:
            return self.inner(path, *args, **kwargs)
        except FileNotFoundError:
            guarded(missing)(path, False)
            raise


class Open(Stat):
    """open of CPython 3.7, which has no audit hooks."""

    def __call__(self, path, mode="r", *args, **kwargs):
        guarded(opened)(path, mode, 0)
        return self.inner(path, mode, *args, **kwargs)


def watch():
    os.environ.__class__ = Environ
    stat = Stat(os.stat)
    for known in (os.supports_follow_symlinks, os.supports_fd, os.supports_dir_fd):
        if os.stat in known:
            known.add(stat)
    os.stat = stat
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(audited)
    else:
        builtins.open = io.open = Open(io.open)


watch()


def gunicorn_loaded(module):
    """A worker of gunicorn listens on a socket of its parent."""
    after(module.Worker, "load_wsgi", lambda result, self: tables())


MODULES = {"socket": socket_loaded, "asyncio.base_events": asyncio_loaded, "uvloop": uvloop_loaded, "gunicorn.workers.base": gunicorn_loaded}
