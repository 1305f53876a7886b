"""Starlette, and FastAPI on it."""
import functools
import inspect
import sys

from . import DISPATCH, TABLES, after, asked, guarded, named, quiet, request, route, tables, tell
from .noted import by_tree, of_bytes, of_json, of_mapping
from .schemas import fields_of, members, plain, takes

apps = []
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def table():
    """All routes of each application that no other one has mounted."""
    told = [(app, list(walk(app.routes, ""))) for app in list(apps)]
    inner = {id(app) for _, found in told for app, _, _ in found if app is not None}
    for app, found in told:
        if id(app) not in inner:
            for _, path, r in found:
                with quiet():
                    tell_route("fastapi" if is_fastapi(app) else "starlette", path, r)


def is_fastapi(app):
    return "fastapi" in sys.modules and any(c.__module__.startswith("fastapi.") for c in type(app).__mro__)


def walk(routes, prefix, depth=0):
    """Each route with its whole path, and the applications that are mounted."""
    for r in list(routes)[:5000] if depth < 20 else ():
        if hasattr(r, "effective_candidates"):  # FastAPI composes included routers when it is asked
            for path, leaf in included(r):
                yield None, prefix + path, leaf
        elif hasattr(r, "endpoint"):
            yield None, prefix + r.path, r
        elif hasattr(r, "app"):  # a mount, or a host
            app, path = r.app, prefix + getattr(r, "path", "")
            while not hasattr(app, "routes") and hasattr(app, "app"):  # a middleware in front of it
                app = app.app
            yield app, path, None
            if getattr(r, "routes", None) or getattr(app, "routes", None):
                for found in walk(getattr(r, "routes", None) or app.routes, path, depth + 1):
                    yield found
            else:
                yield None, path + "/{path:path}", r


def included(branch, depth=0):
    for r in branch.effective_candidates() if depth < 20 else ():
        if hasattr(r, "effective_candidates"):
            for found in included(r, depth + 1):
                yield found
        else:
            r = getattr(r, "starlette_route", None) or r
            if getattr(r, "endpoint", None) is not None:
                yield r.path, r


def tell_route(framework, path, r):
    if r is None or "WebSocket" in type(r).__name__:
        return
    f = getattr(r, "endpoint", None)
    if f is None:  # another application is mounted: static files, a WSGI service
        route(framework, ["GET"], path, type(r.app).__call__, owner=type(r.app))
        return
    wraps, told = [], [parameters(r)]
    if getattr(r, "dependant", None) is not None:
        wraps, told = dependencies(r.dependant), schemas(r)
    if inspect.isclass(f):
        for method in METHODS:
            if hasattr(f, method.lower()):
                route(framework, [method], path, getattr(f, method.lower()), owner=f, takes=told)
        if not any(hasattr(f, m.lower()) for m in METHODS):
            route(framework, [""], path, getattr(f, "dispatch", f.__call__), owner=f, takes=told)
        return
    methods = set(getattr(r, "methods", None) or ()) - {"HEAD", "OPTIONS"} or [""]
    route(framework, methods, path, f, takes=told, wraps=wraps)


def parameters(r):
    kinds = {"IntegerConvertor": "integer", "FloatConvertor": "number", "StringConvertor": ""}  # any text may be a number
    fields = []
    for name, c in sorted(getattr(r, "param_convertors", {}).items()):
        fields.append(plain({"name": name, "type": kinds.get(type(c).__name__, "string"), "required": True, "format": "uuid" if "UUID" in type(c).__name__ else ""}))
    return takes("path", type="", fields=fields)


def flat(dependant, depth=0):
    yield dependant
    for d in dependant.dependencies if depth < 20 else ():
        for found in flat(d, depth + 1):
            yield found


def dependencies(dependant):
    """The functions that FastAPI calls in front of the handler."""
    found = []
    for d in list(flat(dependant))[1:]:
        f = inspect.unwrap(getattr(d, "call", None))
        f = f if hasattr(f, "__code__") or inspect.isclass(f) else type(f)
        name = named(f) if hasattr(f, "__code__") else "%s.%s" % (f.__module__, f.__qualname__)
        if name not in found:
            found.append(name)
    return found


def schemas(r):
    """What FastAPI itself reads of a request."""
    found = []
    for place, name in (("path", "path_params"), ("query", "query_params"), ("header", "header_params")):
        fields = []
        for d in flat(r.dependant):
            for f in getattr(d, name, ()):
                with quiet():
                    fields.extend(p for p in parameter(f) if p["name"] not in {x["name"] for x in fields})
        found.append(takes(place, type="", fields=fields))
    body = getattr(r, "body_field", None)
    if body is not None:
        with quiet():
            schema = schema_of(body)
            form = type(body.field_info).__name__ in ("Form", "File")
            name = getattr(typed(body), "__name__", "")
            fields = members(schema)
            if not fields and schema:
                fields = parameter(body)
            found.append(takes("form" if form else "json", type="" if name.startswith("Body_") else name, fields=fields))
    return found


def parameter(f):
    """The fields of a parameter: itself, or those of the model that it is."""
    schema = schema_of(f)
    required = f.required if isinstance(getattr(f, "required", None), bool) else f.field_info.is_required()
    name = getattr(f, "validation_alias", None) or f.alias
    inner = fields_of(typed(f))
    if inner:
        return inner
    whole = dict(schema.get("$defs") or schema.get("definitions") or {})
    return members({"properties": {name: schema}, "required": [name] if required else [], "$defs": whole, "definitions": whole})


def typed(f):
    """The annotation of a field of FastAPI."""
    return getattr(f.field_info, "annotation", None) or getattr(f, "outer_type_", None)


def schema_of(f):
    """The JSON Schema of a field of FastAPI, by pydantic 2 or 1."""
    if hasattr(f, "outer_type_"):
        from pydantic.schema import field_schema, get_flat_models_from_fields, get_model_name_map
        names = get_model_name_map(get_flat_models_from_fields([f], known_models=set()))
        schema, definitions, _ = field_schema(f, model_name_map=names, ref_prefix="#/definitions/")
        return dict(schema, definitions=definitions)
    adapter = getattr(f, "_type_adapter", None)
    if adapter is None:
        from pydantic import TypeAdapter
        adapter = TypeAdapter(typed(f))
    return adapter.json_schema()


def known(app):
    if not any(a is app for a in apps):
        apps.append(app)


def begins(app, scope):
    known(app)
    if "benchmint_look" in scope:  # a mounted application is called by the one around it
        return
    scope["benchmint_look"] = True
    if scope["type"] == "http":
        root = scope.get("root_path", "")
        path = scope["path"]
        request(scope["method"], path if root and path.startswith(root) else root + path)


def applications_loaded(module):
    cls = module.Starlette
    after(cls, "__init__", lambda result, self, *a, **k: known(self))
    call = cls.__call__

    @functools.wraps(call)
    async def dispatch(self, scope, receive, send):
        guarded(begins)(self, scope)
        if scope["type"] == "lifespan":
            send = started(send)
        await call(self, scope, receive, send)
    DISPATCH.add(dispatch.__code__)
    cls.__call__ = dispatch


def fastapi_loaded(module):
    """Older ones do not call what Starlette has to make an application."""
    after(module.FastAPI, "__init__", lambda result, self, *a, **k: known(self))


def started(send):
    """A server begins to listen once an application says that it has started."""
    async def sends(message):
        if message.get("type") == "lifespan.startup.complete":
            guarded(tables)()
        await send(message)
    return sends


def requests_loaded(module):
    cls, connection = module.Request, module.HTTPConnection
    json, body, query = cls.json, cls.body, connection.query_params

    async def noted_json(self):
        value = await json(self)
        kept = self.__dict__.get("_benchmint_json")
        if kept is None or kept[0] is not value:
            kept = self.__dict__["_benchmint_json"] = (value, of_json(value))
        return kept[1]

    async def noted_body(self):
        return of_bytes(await body(self))

    @functools.wraps(json)
    def asked_json(self):
        if not by_tree():
            return json(self)
        guarded(tell)("body", at=asked(), **{"in": "json"})
        return noted_json(self)

    @functools.wraps(body)
    def asked_body(self):
        return noted_body(self) if by_tree() else body(self)
    cls.json, cls.body = asked_json, asked_body
    connection.query_params = property(lambda self: of_mapping(query.__get__(self), "query"))
    name = "_get_form" if hasattr(cls, "_get_form") else "form"
    form = getattr(cls, name)

    @functools.wraps(form)
    async def noted_form(self, *args, **kwargs):
        return of_mapping(await form(self, *args, **kwargs), "form")
    setattr(cls, name, noted_form)


MODULES = {"fastapi.applications": fastapi_loaded, "starlette.applications": applications_loaded, "starlette.requests": requests_loaded}
TABLES.append(table)
