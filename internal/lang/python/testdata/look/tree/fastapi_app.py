from enum import Enum
from typing import List, Optional

from fastapi import APIRouter, Body, Depends, FastAPI, Form, Header, Path, Query
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, Field
from starlette.requests import Request

KIND = "asgi"
REQUESTS = [("POST", "/v1/items/", {}), ("POST", "/v1/items/", {"name": "x", "price": 3, "kind": "a"}), ("POST", "/v1/items/raw", {"z": 1}), ("GET", "/sub/ping")]


class Kind(str, Enum):
    a = "a"
    b = "b"


class Part(BaseModel):
    weight: Optional[float] = None


class Item(BaseModel):
    name: str = Field(..., min_length=1, max_length=9)
    price: float = Field(..., gt=0)
    kind: Kind
    parts: List[Part] = []
    note: Optional[str] = None


scheme = OAuth2PasswordBearer(tokenUrl="token")


def current(token: str = Depends(scheme), x_key: str = Header(None)):
    return token


router = APIRouter()


@router.post("/", status_code=201)
async def create(item: Item):
    return item


@router.get("/{item_id}")
def read(item_id: int = Path(..., ge=1), q: Optional[str] = Query(None, max_length=5), user: str = Depends(current)):
    return item_id


@router.api_route("/{item_id}/two", methods=["PUT", "PATCH"])
def two(item_id: int, item: Item, part: Part, flag: bool = Body(False)):
    return 1


@router.post("/login")
def login(user: str = Form(...), password: str = Form(...)):
    return user


@router.post("/raw")
async def raw(request: Request):
    return (await request.json())["z"]


outer = APIRouter()
outer.include_router(router, prefix="/items")
app = FastAPI()
app.include_router(outer, prefix="/v1")
sub = FastAPI(openapi_url=None)


@sub.get("/ping")
def ping():
    return "pong"


app.mount("/sub", sub)
