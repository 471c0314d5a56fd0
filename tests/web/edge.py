"""A small service with everything that the two servers have at the edge."""

import asyncio
import errno
import re
from typing import Annotated

import httpx
from fastapi import FastAPI, Query, Request
from prometheus_client import CollectorRegistry

from fedperm.errors import (
    BusyError,
    ConflictError,
    FedPermError,
    RateLimitError,
    UnauthenticatedError,
)
from fedperm.services import AGGREGATOR
from fedperm.web.credentials import Bearer
from fedperm.web.service import build_service
from fedperm.wire.message import Message

ERRORS: dict[str, FedPermError] = {
    "conflict": ConflictError("it is there already", "look first"),
    "unauthenticated": UnauthenticatedError("who are you", "say it"),
    "rate": RateLimitError("too many", "wait", 2.5),
    "busy": BusyError("busy", "wait"),
    "strange": FedPermError("something inside", "mend it"),
}


class Thing(Message):
    count: int
    share: float


def edge_service(ready=lambda: None) -> FastAPI:
    app = build_service(
        AGGREGATOR,
        ready=ready,
        registry=CollectorRegistry(),
        bulk=re.compile(r"/bulk/[a-z]+"),
    )

    @app.get("/errors/{name}")
    def raise_error(name: str) -> None:
        raise ERRORS[name]

    @app.get("/crash")
    def crash() -> None:
        raise RuntimeError("a secret: 4711")

    @app.get("/slow")
    async def slow(seconds: float) -> None:
        await asyncio.sleep(seconds)

    @app.get("/full")
    def full() -> None:
        raise OSError(errno.ENOSPC, "no space")

    @app.put("/things")
    def put_thing(thing: Thing) -> Thing:
        return thing

    @app.get("/numbers")
    def number(n: Annotated[int, Query(ge=0)]) -> int:
        return n

    @app.get("/mine")
    def mine(bearer: Bearer) -> int:
        return len(bearer)

    @app.put("/bulk/{name}")
    async def bulk(request: Request) -> int:
        return sum([len(chunk) async for chunk in request.stream()])

    return app


def caller(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://edge")
