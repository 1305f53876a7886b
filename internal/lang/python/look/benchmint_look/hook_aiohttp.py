"""The server of aiohttp."""
import functools
import inspect

from . import DISPATCH, TABLES, after, asked, guarded, quiet, request, route, tell
from .noted import by_tree, noting_class, of_bytes, of_json
from .schemas import takes

apps = []
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def table():
    """The routes of each application that is no part of another: these have theirs, with the prefix."""
    inner = {id(sub) for app in apps for sub in getattr(app, "_subapps", ())}
    for app in list(apps):
        if id(app) not in inner:
            for r in list(app.router.routes()):
                with quiet():
                    tell_route(r)


def tell_route(r):
    resource = r.resource
    if resource is None:
        return
    path, f = resource.canonical, r.handler
    if "Static" in type(resource).__name__:
        if r.method == "GET":
            route("aiohttp", ["GET"], path.rstrip("/") + "/{filename}", f, owner=type(resource), doc=True)
        return
    told = [takes("path", type="", fields=[{"name": n, "required": True} for n in names(resource)])]
    if inspect.isclass(f):
        for method in METHODS:
            if hasattr(f, method.lower()) and r.method in ("*", method):
                answer = getattr(f, method.lower())
                route("aiohttp", [method], path, answer, owner=f, takes=told + declared(answer))
    elif r.method not in ("HEAD", "OPTIONS"):
        route("aiohttp", ["" if r.method == "*" else r.method], path, f, takes=told + declared(f))


PLACES = {"querystring": "query", "match_info": "path", "headers": "header", "form": "form"}


def declared(f):
    """What aiohttp-apispec notes of a handler: schemas of marshmallow, each with the place of what it is for."""
    with quiet():
        return [takes(PLACES.get(s.get("location") or (s.get("locations") or [""])[0], "json"), s.get("schema")) for s in getattr(f, "__schemas__", ())]
    return []


def names(resource):
    info = resource.get_info()
    pattern = info.get("pattern")
    return list(pattern.groupindex) if pattern is not None else []


def application_loaded(module):
    cls = module.Application
    after(cls, "__init__", lambda result, self, *a, **k: apps.append(self))
    handle = cls._handle

    @functools.wraps(handle)
    async def dispatch(self, r):
        guarded(request)(r.method, r.path)
        return await handle(self, r)
    DISPATCH.add(dispatch.__code__)
    cls._handle = dispatch


def request_loaded(module):
    cls = module.BaseRequest
    json, read, post, query = cls.json, cls.read, cls.post, cls.query

    @functools.wraps(json)
    def asked_json(self, *args, **kwargs):
        if not by_tree():
            return json(self, *args, **kwargs)
        guarded(tell)("body", at=asked(), **{"in": "json"})
        return noted_json(self, *args, **kwargs)

    async def noted_json(self, *args, **kwargs):
        return of_json(await json(self, *args, **kwargs))

    @functools.wraps(read)
    async def noted_read(self):
        return of_bytes(await read(self))

    @functools.wraps(post)
    async def noted_post(self):
        return noting_proxy(await post(self), "form")
    cls.json, cls.read, cls.post = asked_json, noted_read, noted_post
    cls.query = property(lambda self: noting_proxy(query.__get__(self, cls), "query"))


proxies = {}


def noting_proxy(value, place):
    """A mapping of multidict cannot change its class: another one stands for the same content."""
    with quiet():
        from multidict import MultiDict
        cls = type(value)
        if cls not in proxies:
            proxies[cls] = noting_class(cls)
        out = proxies[cls](MultiDict(value))
        out.__dict__["_benchmint"] = (place, "")
        return out
    return value


MODULES = {"aiohttp.web_app": application_loaded, "aiohttp.web_request": request_loaded}
TABLES.append(table)
