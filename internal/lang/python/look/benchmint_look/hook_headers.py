"""Who asks for the header of credentials: the handler, or what stands in front of it."""
from . import asked, before, tell


def note(self, name, *args, **kwargs):
    if isinstance(name, str) and name.lower() == "authorization":
        tell("key", name="Authorization", at=asked(), **{"in": "header"})


def reads(cls, *names):
    if cls.__dict__.get("_benchmint_headers"):
        return
    cls._benchmint_headers = True
    for name in names:
        if hasattr(cls, name):
            before(cls, name, note)


def werkzeug_loaded(module):
    reads(module.EnvironHeaders, "__getitem__", "get")


def starlette_loaded(module):
    reads(module.Headers, "__getitem__", "get")


def django_loaded(module):
    reads(module.HttpHeaders, "__getitem__", "get")


MODULES = {"werkzeug.datastructures": werkzeug_loaded, "werkzeug.datastructures.headers": werkzeug_loaded, "starlette.datastructures": starlette_loaded, "django.http.request": django_loaded}
