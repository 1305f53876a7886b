"""Libraries that check what a handler was sent, and settings: marshmallow, webargs, pydantic."""
import functools
import os

from . import asked, began, before, guarded, tell
from .noted import NotedDict, of_json
from .schemas import fields_of


def body(schema, place, name=None):
    fields = fields_of(schema)
    if fields:
        tell("body", type=type(schema).__name__ if name is None else name, fields=fields, at=asked(), **{"in": place})


parsing = []  # the place that webargs reads now


def marshmallow_loaded(module):
    """A schema is told where a handler gives it what it was sent; what the schema's own functions ask of that
    is noted."""
    for name in ("load", "validate"):
        setattr(module.Schema, name, loading(getattr(module.Schema, name)))


def loading(function):
    @functools.wraps(function)
    def call(self, data, *args, **kwargs):
        place, prefix = getattr(data, "__dict__", {}).get("_benchmint", ("", ""))
        if place and not prefix:  # else it is a part of another's
            guarded(body)(self, place)
        elif parsing and not place:
            data = of_json(data, parsing[-1])
        return function(self, data, *args, **kwargs)
    return call


PLACES = {"querystring": "query", "view_args": "path", "match_info": "path", "headers": "header", "cookies": "header", "json_or_form": "json", "files": "form"}


def webargs_loaded(module):
    """webargs is asked by decorators: of Flask-Smorest, APIFairy, flask-apispec, aiohttp."""
    if hasattr(module.Parser, "async_parse"):
        before(module.Parser, "async_parse", parses)
    parse = module.Parser.parse

    @functools.wraps(parse)
    def call(self, *args, **kwargs):
        place = guarded(parses)(self, *args, **kwargs)
        if place is None:
            return parse(self, *args, **kwargs)
        parsing.append(place)
        try:
            return parse(self, *args, **kwargs)
        finally:
            parsing.pop()
    module.Parser.parse = call


def parses(parser, argmap, req=None, *args, location=None, **kwargs):
    """Tells a schema that webargs reads, and gives its place."""
    usual = "query" if began[0].startswith("GET ") else "json"  # before webargs 6 both are tried
    place = location or getattr(parser, "location", None) or (kwargs.get("locations") or (usual,))[0]
    place = PLACES.get(place, place)
    schema = argmap() if isinstance(argmap, type) else argmap
    body(schema, place, "" if isinstance(schema, dict) else None)
    return place


def pydantic_loaded(module):
    """A model that is made of what a request brought."""
    for name in ("model_validate", "parse_obj"):
        inner = vars(module.BaseModel).get(name)
        if isinstance(inner, classmethod):
            setattr(module.BaseModel, name, classmethod(validating(inner.__func__)))


def validating(function):
    @functools.wraps(function)
    def call(cls, value, *args, **kwargs):
        if isinstance(value, NotedDict):
            guarded(body)(cls, value.__dict__["_benchmint"][0], cls.__name__)
        return function(cls, value, *args, **kwargs)
    return call


def settings_loaded(module):
    """Settings of pydantic iterate a copy of the environment: the class itself tells its fields."""
    cls = getattr(module, "BaseSettings", None)
    if cls is not None and cls.__module__ == module.__name__:
        before(cls, "__init__", lambda *args, **kwargs: settings(type(args[0])))


def settings(cls):
    given = {name.upper() for name in list(os.environ)}
    place = asked()
    if hasattr(cls, "model_fields"):
        from pydantic_settings import EnvSettingsSource
        source = EnvSettingsSource(cls)
        case = source.case_sensitive
        for name, f in cls.model_fields.items():
            for _, variable, _ in source._extract_field_info(f, name):
                told(variable if case else variable.upper(), given, None if f.is_required() else f.default, place)
        return
    for f in cls.__fields__.values():
        for variable in sorted(f.field_info.extra.get("env_names") or ()):
            told(variable if cls.__config__.case_sensitive else variable.upper(), given, None if f.required else f.default, place)


def told(variable, given, default, place):
    value = getattr(default, "value", default)  # of an Enum
    value = str(value) if isinstance(value, (str, int, float, bool)) else ""
    tell("env", name=variable, set=variable.upper() in given, default=value[:1000], at=place)


MODULES = {"marshmallow.schema": marshmallow_loaded, "webargs.core": webargs_loaded, "pydantic.main": pydantic_loaded, "pydantic_settings.main": settings_loaded, "pydantic.env_settings": settings_loaded}
