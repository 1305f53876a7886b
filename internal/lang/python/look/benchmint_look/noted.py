"""Mappings of a request that note which names a handler asks them for.

They stay what they were: a dict that json made becomes a subclass of dict with the same content, other
mappings get a subclass of their own class.
"""
import functools
import json
import sys

from . import HERE, asked, guarded, inside, quiet, tell

classes = {}


def note(mapping, name):
    guarded(tell_key)(mapping, name)


def tell_key(mapping, name):
    place, prefix = mapping.__dict__["_benchmint"]
    where = asked()
    if isinstance(name, str) and where:
        tell("key", name=prefix + name, at=where, **{"in": place})


ASKING = ("__getitem__", "__contains__", "get", "pop", "getlist", "getall", "getone")


def asks(function):
    @functools.wraps(function)
    def call(self, name, *args, **kwargs):
        note(self, name)
        return function(self, name, *args, **kwargs)
    return call


def noting_class(cls, **more):
    """A subclass whose methods note what they are asked for."""
    body = {name: asks(getattr(cls, name)) for name in ASKING if hasattr(cls, name)}
    return type(cls.__name__, (cls,), dict(body, __module__=cls.__module__, __qualname__=cls.__qualname__, **more))


# A dict that json made. What is copied or pickled is a dict again.
NotedDict = noting_class(dict, __reduce_ex__=lambda self, protocol: (dict, (dict(self),)))


def of_json(value, place="json", prefix="", depth=0):
    """value with each dict in it noted; a name in an object is told with the names in front: user.email."""
    if depth > 5:
        return value
    if type(value) is dict:
        out = NotedDict((k, of_json(v, place, "%s%s." % (prefix, k), depth + 1)) for k, v in value.items())
        out.__dict__["_benchmint"] = (place, prefix)
        return out
    if type(value) is list and len(value) <= 1000:
        return [of_json(v, place, prefix[:-1] + "[].", depth + 1) for v in value]
    return value


def of_mapping(value, place):
    """The same object, of a class that notes; as it was where its class cannot be changed."""
    cls = type(value)
    with quiet():
        if cls not in classes:
            if cls in classes.values():
                return value
            classes[cls] = noting_class(cls)
        value.__class__ = classes[cls]
        value.__dict__["_benchmint"] = (place, "")
    return value


def by_tree():
    """Whether the tree itself called a function of the framework that we wrapped, at once or through a property."""
    frame = sys._getframe(2)
    for _ in range(6):
        if frame is None:
            return False
        if inside(frame.f_code.co_filename):
            return True
        name = frame.f_code.co_filename
        if not name.startswith(HERE) and not name.endswith("werkzeug/local.py") and frame.f_code.co_name != "json":
            return False
        frame = frame.f_back
    return False


class raw:
    """The body of the last request that a handler took as bytes."""
    last = None


def of_bytes(value):
    """Remembers a raw body: what json makes of it is noted."""
    raw.last = value
    return value


loads = json.loads


def noted_loads(s, *args, **kwargs):
    value = loads(s, *args, **kwargs)
    last = raw.last
    if last and (s is last or isinstance(s, str) and isinstance(last, bytes) and s.encode("utf-8", "replace") == last):
        with quiet():
            return of_json(value)
    return value


noted_loads.__wrapped__ = loads
json.loads = noted_loads
