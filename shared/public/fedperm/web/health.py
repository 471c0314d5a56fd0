"""/livez, /readyz, /version and /metrics: alike in both servers, and open to everybody."""

from collections.abc import Callable

from fastapi import APIRouter, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel

import fedperm
from fedperm.protocol import PROTOCOL
from fedperm.web.metrics import HttpMetrics

Check = Callable[[], None]
"""Returns None if all is well, else raises a ServiceError."""


class Health(BaseModel):
    status: str = "ok"


class Version(BaseModel):
    service: str
    version: str = fedperm.__version__
    protocol: str = PROTOCOL


def health_routes(service: str, ready: Check, metrics: HttpMetrics) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/livez", summary="The process answers")
    async def live() -> Health:
        return Health()

    @router.get("/readyz", summary="It can do its work, or a problem says why not")
    def is_ready() -> Health:
        ready()
        return Health()

    @router.get("/version", summary="Which software and protocol")
    async def version() -> Version:
        return Version(service=service)

    @router.get("/metrics", summary="Prometheus metrics", response_class=Response)
    def expose() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router
