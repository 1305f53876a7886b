"""Libraries that check what a handler was sent, and settings: marshmallow, webargs, pydantic."""
import functools
import os

from . import asked, began, before, guarded, tell
from .noted import NotedDict
from .schemas import fields_of


def body(schema, place, name=None):
    fields = fields_of(schema)
    if fields:
        tell("body", type=type(schema).__name__ if name is None else name, fields=fields, at=asked(), **{"in": place})


def marshmallow_loaded(module):
    def loads(self, data=None, *args, **kwargs):
        if isinstance(data, NotedDict):
            body(self, data.__dict__["_benchmint"][0])
    for name in ("load", "validate"):
        before(module.Schema, name, loads)


PLACES = {"querystring": "query", "view_args": "path", "match_info": "path", "headers": "header", "cookies": "header", "json_or_form": "json", "files": "form"}


def webargs_loaded(module):
    """webargs is asked by decorators: of Flask-Smorest, APIFairy, flask-apispec, aiohttp."""
    def parses(self, argmap, req=None, *args, location=None, **kwargs):
        usual = "query" if began[0].startswith("GET ") else "json"  # before webargs 6 both are tried
        place = location or getattr(self, "location", None) or (kwargs.get("locations") or (usual,))[0]
        schema = argmap() if isinstance(argmap, type) else argmap
        body(schema, PLACES.get(place, place), "" if isinstance(schema, dict) else None)
    for name in ("parse", "async_parse"):
        if hasattr(module.Parser, name):
            before(module.Parser, name, parses)


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
