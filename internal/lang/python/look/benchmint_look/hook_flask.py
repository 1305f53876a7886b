"""Flask, and what stands on it: Flask-RESTX, Flask-RESTful, Flask-Smorest, APIFairy, APIFlask, flask-apispec."""
import functools
import inspect

from . import TABLES, after, asked, before, guarded, quiet, request, requests, route, tell
from .noted import by_tree, of_bytes, of_json, of_mapping
from .schemas import fields_of, kind_of, plain, takes

apps = []
PLACES = {"args": "query", "querystring": "query", "view_args": "path", "headers": "header", "cookies": "header", "values": "query", "json_or_form": "json", "files": "form"}


def table():
    for app in list(apps):
        for rule in list(app.url_map.iter_rules()):
            with quiet():
                tell_rule(app, rule)


def tell_rule(app, rule):
    view = app.view_functions.get(rule.endpoint)
    owner = getattr(view, "view_class", None)
    methods = set(rule.methods or ()) - {"HEAD", "OPTIONS"} or set(rule.methods or ()) - {"OPTIONS"} or [""]
    for method in sorted(methods):
        f = view
        if owner is not None:
            f = getattr(owner, method.lower(), None) or getattr(owner, "dispatch_request", view)
        route("flask", [method], rule.rule, f, owner=owner, doc=rule.endpoint.split(".")[-1] == "static", takes=parameters(rule) + bodies(view, owner, f, method))


def parameters(rule):
    """The parameters of a path, by their converters."""
    found = []
    for name, converter in sorted(getattr(rule, "_converters", {}).items()):
        kind = {"IntegerConverter": "integer", "FloatConverter": "number"}.get(type(converter).__name__, "string")
        found.append(plain({"name": name, "type": kind, "required": True, "format": "uuid" if "UUID" in type(converter).__name__ else ""}))
    return [takes("path", type="", fields=found)]


def bodies(view, owner, f, method):
    """The schemas that an extension has noted at a view: in a wrapper, or at what it wraps."""
    found, seen = [], set()
    for at in (f, view, owner):
        while at is not None and id(at) not in seen:
            seen.add(id(at))
            with quiet():
                found.extend(noted(vars(at) if hasattr(at, "__dict__") else {}, f, "query" if method == "GET" else "json"))
            at = getattr(at, "__wrapped__", None) or getattr(at, "__func__", None)
    found.extend(models(f))
    out = []
    for place, schema in found:
        place = PLACES.get(place, place)
        fact = takes(place, schema.schema, fields=schema.fields()) if isinstance(schema, Given) else takes(place, schema)
        if fact and fact not in out:
            out.append(fact)
    return out


def noted(attributes, f, usual):
    """Pairs of place and schema, the usual place where nothing else is said: _spec of APIFairy and APIFlask,
    _apidoc of Flask-Smorest, __apidoc__ of Flask-RESTX, __apispec__ of flask-apispec."""
    spec = attributes.get("_spec") or {}
    body = spec.get("body")
    if isinstance(body, (list, tuple)):  # schema, location, …
        yield body[1] if len(body) > 1 and isinstance(body[1], str) else "json", body[0]
    elif body is not None:
        yield spec.get("body_location") or "json", body
    for one in list(spec.get("args") or ()) + list(spec.get("query") or ()):
        yield (one[1], one[0]) if isinstance(one, (list, tuple)) and len(one) > 1 and isinstance(one[1], str) else ("query", one[0] if isinstance(one, (list, tuple)) else one)
    for one in ((attributes.get("_apidoc") or {}).get("arguments") or {}).get("parameters") or ():
        yield one.get("in", "json"), one.get("schema")
    for one in (attributes.get("__apispec__") or {}).get("args") or ():
        for options in one.options:
            kwargs = options.get("kwargs") or {}
            yield kwargs.get("location") or (kwargs.get("locations") or (usual,))[0], Given(made(options.get("argmap") or options.get("args")), f)
    doc = attributes.get("__apidoc__")
    if isinstance(doc, dict):
        expect = list(doc.get("expect") or ())
        method = doc.get(getattr(f, "__name__", ""))
        for one in expect + list((method or {}).get("expect") or () if isinstance(method, dict) else ()):
            one = one[0] if isinstance(one, list) and one else one
            if hasattr(one, "args") and hasattr(one, "parse_args"):
                for place, fields in arguments(one).items():
                    yield place, {"properties": {x["name"]: x for x in fields}, "required": [x["name"] for x in fields if x.get("required")]}
            else:
                yield "json", one.__schema__ if hasattr(one, "__schema__") else one


class Given:
    """A schema whose members become the arguments of a view: those that it does not take are not sent."""

    def __init__(self, schema, view):
        self.schema = schema
        parameters = inspect.signature(handlers(view)).parameters.values()
        self.names = None if any(p.kind is p.VAR_KEYWORD for p in parameters) else {p.name for p in parameters}

    def fields(self):
        fields = fields_of(self.schema)
        return fields if self.names is None else self.taken(fields)

    def taken(self, fields, depth=0):
        kept = []
        for one in fields:
            inner = self.taken(one["fields"], depth + 1) if depth < 2 and one.get("fields") else []
            if one["name"] in self.names:
                kept.append(one)
            elif inner:
                kept.append(dict(one, fields=inner))
        return kept


def made(schema):
    return schema() if isinstance(schema, type) else schema


def models(f):
    """Annotations of parameters that are pydantic models, by the names that extensions give a meaning."""
    for name, annotation in (getattr(handlers(f), "__annotations__", None) or {}).items():
        if name in ("body", "json", "form", "query", "path", "header") and isinstance(annotation, type) and fields_of(annotation):
            yield "json" if name == "body" else name, annotation


def handlers(f):
    while getattr(f, "__wrapped__", None) is not None:
        f = f.__wrapped__
    return f


def arguments(parser):
    """Fields of a RequestParser by place."""
    found = {}
    for a in parser.args:
        place = a.location if isinstance(a.location, str) else (list(a.location) or ["values"])[0]
        kind, form = kind_of(a.type) if isinstance(a.type, type) else ("", "")
        item = plain({"name": a.dest or a.name, "type": "array" if a.action in ("append", "split") else kind, "format": form, "required": bool(a.required), "enum": [str(c) for c in a.choices or ()][:200]})
        found.setdefault("json" if place == "values" else PLACES.get(place, place), []).append(item)
    return found


def app_loaded(module):
    after(module.Flask, "__init__", lambda result, self, *a, **k: apps.append(self))

    def begins(self, *args, **kwargs):
        from flask import request as r
        request(r.method, r.script_root.rstrip("/") + r.path)
    requests(module.Flask, "full_dispatch_request", begins)


def wrappers_loaded(module):
    cls = module.Request
    for name, place in (("args", "query"), ("form", "form"), ("files", "form"), ("values", "query")):
        setattr(cls, name, Noting(getattr(cls, name), name, place))
    if hasattr(cls, "data"):
        setattr(cls, "data", Noting(cls.data, "data", ""))
    after(cls, "get_data", lambda value, *a, **k: of_bytes(value) if by_tree() else None)
    inner = cls.get_json

    @functools.wraps(inner)
    def get_json(self, *args, **kwargs):
        if not by_tree():
            return inner(self, *args, **kwargs)
        guarded(tell)("body", at=asked(), **{"in": "json"})
        value = inner(self, *args, **kwargs)
        kept = self.__dict__.get("_benchmint_json")
        if kept is None or kept[0] is not value:
            kept = self.__dict__["_benchmint_json"] = (value, of_json(value))
        return kept[1]
    cls.get_json = get_json


class Noting:
    """A property of a request whose mapping notes what it is asked for."""

    def __init__(self, inner, name, place):
        self.inner, self.name, self.place, self.__doc__ = inner, name, place, getattr(inner, "__doc__", None)

    def __get__(self, owner, cls=None):
        if owner is None:
            return self
        if self.name in owner.__dict__:  # a cached property has it
            value = owner.__dict__[self.name]
        else:
            value = self.inner.__get__(owner, cls)
        return of_mapping(value, self.place) if self.place else of_bytes(value)

    def __set__(self, owner, value):
        owner.__dict__[self.name] = value


def parser_loaded(module):
    """A RequestParser of Flask-RESTful or Flask-RESTX is asked in the handler."""
    def parses(self, *args, **kwargs):
        for place, fields in arguments(self).items():
            tell("body", fields=fields, at=asked(), **{"in": place})
    before(module.RequestParser, "parse_args", parses)


MODULES = {"flask.app": app_loaded, "flask.wrappers": wrappers_loaded, "flask_restful.reqparse": parser_loaded, "flask_restx.reqparse": parser_loaded}
TABLES.append(table)
