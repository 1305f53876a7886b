from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, Router, WebSocketRoute

KIND = "asgi"
REQUESTS = [("GET", "/?page=1"), ("POST", "/api/users", {"name": "x", "more": {"y": 1}}), ("PUT", "/api/users/3", "name=a")]


async def index(request: Request):
    return JSONResponse(request.query_params.get("page"))


class Users(HTTPEndpoint):
    async def get(self, request):
        return JSONResponse([])

    async def post(self, request):
        data = await request.json()
        return JSONResponse([data, data["name"], data["more"]["y"]])


def user(request):
    return JSONResponse(request.path_params["id"])


async def put(request):
    async def read():
        return (await request.form())["name"]
    return JSONResponse(await read())


async def chat(socket):
    pass

app = Starlette(routes=[
    Route("/", index),
    Mount("/api", app=Router([Route("/users", Users), Route("/users/{id:int}", user), Route("/users/{id:int}", put, methods=["PUT"])])),
    WebSocketRoute("/chat", chat),
])
