"""A FastAPI application with everything that both servers have at the edge."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

import fedperm
from fedperm.services import ServiceSpec
from fedperm.web.documentation import ANYWHERE, DocumentedApp, problems
from fedperm.web.health import Check, health_routes
from fedperm.web.metrics import HttpMetrics
from fedperm.web.problems import install_problems
from fedperm.web.requests import BodyLimits, RequestLayer
from fedperm.web.stalls import StallMeter

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

SMALL_BODIES = BodyLimits()


@asynccontextmanager
async def _nothing_to_run(_app: FastAPI) -> AsyncIterator[None]:
    yield


def build_service(
    spec: ServiceSpec,
    *,
    ready: Check,
    registry: CollectorRegistry,
    limits: BodyLimits = SMALL_BODIES,
    lifespan: Lifespan = _nothing_to_run,
) -> FastAPI:
    """`limits` are for paths that take other bodies than a few kilobytes of JSON."""
    app = DocumentedApp(
        title=f"FedPerm {spec.title}",
        version=fedperm.__version__,
        lifespan=_metered(lifespan, StallMeter(registry)),
        responses=problems(*ANYWHERE),
        # FastAPI's pages load scripts from other hosts
        docs_url=None,
        redoc_url=None,
    )
    metrics = HttpMetrics(registry)
    install_problems(app)
    app.include_router(health_routes(spec.name, ready, metrics))
    app.add_middleware(RequestLayer, limits=limits, metrics=metrics)
    return app


def _metered(lifespan: Lifespan, meter: StallMeter) -> Lifespan:
    @asynccontextmanager
    async def both(app: FastAPI) -> AsyncIterator[None]:
        async with lifespan(app), meter.running():
            yield

    return both
