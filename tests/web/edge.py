"""A small service with everything that the two servers have at the edge."""

import asyncio
import errno
import re
from typing import Annotated

import httpx
from fastapi import FastAPI, Query, Request, Response
from prometheus_client import CollectorRegistry

from fedperm.errors import (
    BusyError,
    ConflictError,
    FedPermError,
    RateLimitError,
    UnauthenticatedError,
)
from fedperm.services import AGGREGATOR
from fedperm.web.connections import vouch_for
from fedperm.web.credentials import Bearer, presented
from fedperm.web.json_body import sent
from fedperm.web.requests import CREDENTIAL_BODY, BodyLimits
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


async def anybody() -> None:
    """Admits everybody."""


def edge_service(ready=lambda: None) -> FastAPI:
    app = build_service(
        AGGREGATOR,
        ready=ready,
        registry=CollectorRegistry(),
        limits=BodyLimits(
            bulk=re.compile(r"/bulk/[a-z]+"), lengths={re.compile("/tokens"): CREDENTIAL_BODY}
        ),
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

    @app.get("/numbers")
    def number(n: Annotated[int, Query(ge=0)]) -> int:
        return n

    @app.get("/mine")
    def mine(bearer: Bearer) -> int:
        return len(bearer)

    @app.put("/bulk/{name}")
    async def bulk(request: Request) -> int:
        return sum([len(chunk) async for chunk in request.stream()])

    _take_bodies(app)
    _tell_of_connections(app)
    return app


def _take_bodies(app: FastAPI) -> None:
    @app.put("/things")
    def put_thing(thing: Annotated[Thing, sent(Thing, after=anybody)]) -> Thing:
        return thing

    @app.put("/my-things")
    def put_my_thing(
        request: Request, thing: Annotated[Thing, sent(Thing, after=presented)]
    ) -> Thing:
        vouch_for(request)
        return thing

    @app.put("/tokens")
    def put_token(thing: Annotated[Thing, sent(Thing, after=anybody)]) -> Thing:
        return thing


def _tell_of_connections(app: FastAPI) -> None:
    @app.get("/long")
    def long(octets: int) -> Response:
        return Response(bytes(octets))

    @app.get("/address")
    def address(request: Request) -> str:
        return f"{request.client.host} {request.url.scheme}" if request.client else ""


def caller(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://edge")
