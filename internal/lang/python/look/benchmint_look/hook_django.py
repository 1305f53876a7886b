"""Django's resolver, Django REST framework and Django Ninja."""
import re
import sys

from . import TABLES, after, aloud, asked, before, inside, quiet, request, requests, route, tell
from .noted import by_tree, of_bytes, of_json, of_mapping
from .schemas import MOST_DEPTH, fields_of, kind_of, number, plain, takes

try:
    from re import _parser as sre
except ImportError:  # before 3.11
    import sre_parse as sre

handlers = []  # of requests: the service is one of Django once it has one
METHODS = ("get", "post", "put", "patch", "delete")
# What the methods of generic views call, in the order in which the tree may have its own.
CALLED = {
    "get": ("list", "retrieve", "get_context_data", "get_queryset", "get_object"), "post": ("create", "perform_create", "form_valid"),
    "put": ("update", "perform_update"), "patch": ("partial_update", "update", "perform_update"), "delete": ("destroy", "perform_destroy"),
    "list": ("get_queryset",), "retrieve": ("get_object", "get_queryset"), "create": ("perform_create",), "update": ("perform_update",),
    "partial_update": ("update", "perform_update"), "destroy": ("perform_destroy", "get_object", "get_queryset"),
}


def table():
    if handlers:
        from django.urls import get_resolver
        told = set()
        for path, parameters, pattern in walk(aloud(getattr, get_resolver(), "url_patterns"), "/", []):
            with quiet():
                tell_pattern(path, parameters, pattern.callback, told)


def walk(patterns, prefix, parameters, depth=0):
    for p in patterns if depth < 20 else ():
        try:
            path, more = plain_path(p)
            path = prefix + path if prefix != "/" or not path.startswith("/") else path
            if hasattr(p, "url_patterns"):
                for found in walk(aloud(getattr, p, "url_patterns"), path, parameters + more, depth + 1):
                    yield found
            else:
                yield path, parameters + more, p
        except Exception:  # a part of the table that does not load hides no other
            continue


def plain_path(p):
    """The path of a pattern, and its parameters: of path() as it stands, of re_path() with <name> for groups."""
    pattern = getattr(p, "pattern", p)
    converters = getattr(pattern, "converters", {})
    if hasattr(pattern, "_route"):
        return str(pattern._route), [parameter(n, type(c).__name__) for n, c in converters.items()]
    if not hasattr(pattern, "regex") or "LocalePrefix" in type(pattern).__name__:
        return str(pattern), []
    text = pattern.regex.pattern
    parameters = []
    return of_regex(sre.parse(text), {v: k for k, v in pattern.regex.groupindex.items()}, parameters), parameters


def parameter(name, converter):
    kind = {"IntConverter": "integer", "StrConverter": "", "": ""}.get(converter, "string")  # any text may be a number
    return plain({"name": name, "type": kind, "required": True, "format": "uuid" if "UUID" in converter else ""})


def of_regex(items, names, parameters):
    """A path that a parsed expression matches: groups are parameters, what may be absent is."""
    out = ""
    for op, value in items:
        op = str(op)
        if op == "LITERAL":
            out += chr(value)
        elif op == "SUBPATTERN" and value[0] is not None:
            name = names.get(value[0], "var%d" % value[0])
            parameters.append(parameter(name, "IntConverter" if digits(value[-1]) else ""))
            out += "<%s>" % name
        elif op == "SUBPATTERN":
            out += of_regex(value[-1], names, parameters)
        elif op == "BRANCH":
            out += of_regex(value[1][0], names, parameters)
        elif op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] > 0:
            out += of_regex(value[2], names, parameters) if str(value[2][0][0]) in ("LITERAL", "SUBPATTERN") else "<var>"
        elif op in ("ANY", "IN"):
            out += "." if op == "ANY" else "<var>"
    return out


def digits(items):
    text = str(list(items))
    return "CATEGORY_DIGIT" in text and "CATEGORY_WORD" not in text and "LITERAL" not in text and "NEGATE" not in text


def tell_pattern(path, parameters, view, told):
    told_path = takes("path", type="", fields=parameters)
    if re.search(r"[<:]format>/?$", path):
        return  # the same view with a suffix: .json
    operations = ninja_operations(view)
    if operations:
        for o in operations:
            route("django", o.methods, path, o.view_func, takes=[ninja_schema(m) for m in o.models])
        return
    cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if cls is None:
        route("django", allowed(view), path, view, takes=[told_path])
        return
    actions = getattr(view, "actions", None) or {m: m for m in METHODS if hasattr(cls, m) and m in cls.http_method_names}
    for method, action in actions.items():
        if method not in ("head", "options") and (method.upper(), path) not in told:
            told.add((method.upper(), path))
            body = serializer(view, cls) if method in ("post", "put", "patch") else None
            f, owner = answering(cls, action)
            wraps = ["%s.%s" % (c.__module__, c.__qualname__) for c in list(getattr(cls, "permission_classes", ()) or ()) if isinstance(c, type)]
            route("django", [method.upper()], path, f, owner=owner, takes=[told_path, body], wraps=wraps)


def answering(cls, action):
    """The method that answers: where a library's does, the first of the tree that it calls."""
    for name in (action,) + CALLED.get(action, ()):
        f = getattr(cls, name, None)
        code = getattr(unwrapped(f), "__code__", None)
        if code is not None and inside(code.co_filename):
            return f, cls
    return getattr(cls, action), cls


def unwrapped(f):
    while getattr(f, "__wrapped__", None) is not None:
        f = f.__wrapped__
    return f


def allowed(view):
    """The methods that require_http_methods or api_view lets through."""
    while view is not None:
        for cell in getattr(view, "__closure__", None) or ():
            with quiet():
                value = cell.cell_contents
                if isinstance(value, (list, tuple)) and value and all(isinstance(m, str) and m.isupper() for m in value):
                    return set(value) - {"HEAD", "OPTIONS"} or value
        view = getattr(view, "__wrapped__", None)
    return [""]


def ninja_operations(view):
    """The operations of a path of Django Ninja; None for other views."""
    if "ninja" in sys.modules:
        for held in [view] + [c.cell_contents for c in getattr(view, "__closure__", None) or ()]:
            operations = getattr(getattr(held, "__self__", held), "operations", None)
            if operations and hasattr(operations[0], "view_func"):
                return operations
    return None


def ninja_schema(model):
    """What an operation reads at one place; a body that is one parameter stands for itself."""
    place, one = model.__ninja_param_source__, getattr(model, "__read_from_single_attr__", None)
    if one and place == "body":
        return takes("json", model.model_fields[one].annotation)
    return takes({"body": "json"}.get(place, place), type="", fields=fields_of(model))


def serializer(view, cls):
    """The fields of the serializer that a view names."""
    kind = getattr(view, "initkwargs", {}).get("serializer_class") or getattr(cls, "serializer_class", None)
    if kind is None:
        return None
    with quiet():
        return takes("json", type=kind.__name__, fields=serializer_fields(kind(), 0))


def serializer_fields(s, depth):
    out = []
    for name, f in list(s.fields.items())[:200]:
        if not f.read_only and type(f).__name__ != "HiddenField":
            out.append(serializer_field(name, f, depth))
    return out


def serializer_field(name, f, depth=0):
    kind, form = kind_of(type(f))
    secret = getattr(f, "style", {}).get("input_type") == "password"
    out = {"name": name, "type": kind, "format": "password" if secret else form, "required": f.required}
    low, high = getattr(f, "min_value", None), getattr(f, "max_value", None)
    out["min"] = low if number(low) else getattr(f, "min_length", None)
    out["max"] = high if number(high) else getattr(f, "max_length", None)
    if type(f).__name__ in ("ChoiceField", "MultipleChoiceField"):
        out["enum"] = [str(c) for c in list(f.choices)[:200]]
    child = getattr(f, "child", None) or getattr(f, "child_relation", None)
    if hasattr(f, "fields") and depth < MOST_DEPTH:
        out["type"], out["fields"] = "object", serializer_fields(f, depth + 1)
    elif child is not None and depth < MOST_DEPTH:
        out["type"], out["items"] = "array", serializer_field("", child, depth + 1)
        out["items"].pop("required", None)
    return plain(out)


def base_loaded(module):
    def begins(self, r, *args, **kwargs):
        request(r.method, r.path)
    cls = module.BaseHandler
    after(cls, "load_middleware", lambda result, self, *a, **k: handlers.append(self) if not handlers else None)
    for name in ("get_response", "get_response_async"):
        if hasattr(cls, name):
            requests(cls, name, begins)


def request_loaded(module):
    body = module.HttpRequest.body
    module.HttpRequest.body = property(lambda self: of_bytes(body.__get__(self)))


def noting(cls, name, place):
    """Notes what a mapping of a request is asked for: a property, or what Django keeps in its place."""
    inner = getattr(cls, name)

    def get(self):
        if name in self.__dict__:
            return of_mapping(self.__dict__[name], place)
        return of_mapping(inner.__get__(self, cls), place)
    setattr(cls, name, property(get, lambda self, value: self.__dict__.__setitem__(name, value) if not getattr(inner, "fset", None) else inner.fset(self, value)))


def wsgi_loaded(module):
    noting(module.WSGIRequest, "GET", "query")
    noting(module.WSGIRequest, "POST", "form")


def asgi_loaded(module):
    noting(module.ASGIRequest, "GET", "query")
    noting(module.ASGIRequest, "POST", "form")


def drf_request_loaded(module):
    cls = module.Request
    data = cls.data

    def get(self):
        value = data.__get__(self, cls)
        if not by_tree():
            return value
        with quiet():
            tell("body", at=asked(), **{"in": "json"})
        if type(value) is not dict:
            return of_mapping(value, "form") if hasattr(value, "getlist") else value
        kept = self.__dict__.get("_benchmint_json")
        if kept is None or kept[0] is not value:
            kept = self.__dict__["_benchmint_json"] = (value, of_json(value))
        return kept[1]
    cls.data = property(get, getattr(data, "fset", None))


def serializers_loaded(module):
    def checks(self, *args, **kwargs):
        s = getattr(self, "child", self)
        if hasattr(s, "fields"):
            place = getattr(getattr(self, "initial_data", None), "__dict__", {}).get("_benchmint", ("json",))[0]
            tell("body", type=type(s).__name__, fields=serializer_fields(s, 0), at=asked(), **{"in": place})
    before(module.BaseSerializer, "is_valid", checks)
    for cls in (module.ListSerializer, module.Serializer):
        if "is_valid" in vars(cls):
            before(cls, "is_valid", checks)


MODULES = {
    "django.core.handlers.base": base_loaded, "django.core.handlers.wsgi": wsgi_loaded, "django.core.handlers.asgi": asgi_loaded,
    "django.http.request": request_loaded, "rest_framework.request": drf_request_loaded, "rest_framework.serializers": serializers_loaded,
}
TABLES.append(table)
