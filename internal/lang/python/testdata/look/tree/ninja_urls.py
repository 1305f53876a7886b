from django.urls import path
from ninja import NinjaAPI, Schema


class Thing(Schema):
    name: str
    size: int = 3


api = NinjaAPI(docs_url=None)


@api.post("/things/{key}")
def make(request, key: int, thing: Thing, q: str = None):
    return {}


urlpatterns = [path("ninja/", api.urls)]
