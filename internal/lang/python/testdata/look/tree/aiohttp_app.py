from aiohttp import web

KIND = "aiohttp"
REQUESTS = [("POST", "/users", {"name": "x"}), ("GET", "/?page=1"), ("POST", "/admin/items/3", "title=a")]
routes = web.RouteTableDef()


@routes.get("/")
async def index(request):
    return web.Response(text=request.query.get("page"))


@routes.view("/users")
class Users(web.View):
    async def get(self):
        return web.json_response([])

    async def post(self):
        data = await self.request.json()
        return web.json_response(data["name"], status=201)


async def item(request):
    data = await request.post()
    return web.Response(text=data["title"] + data.get("note", ""))


# As aiohttp-apispec notes it.
item.__schemas__ = [{"schema": {"type": "object", "properties": {"note": {"type": "string"}}}, "location": "form"}]

app = web.Application()
app.add_routes(routes)
admin = web.Application()
admin.router.add_post("/items/{id:\\d+}", item)
admin.router.add_route("*", "/any", item)
app.add_subapp("/admin/", admin)
