"""A FastAPI application with everything that both servers have at the edge."""

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

import fedperm
from fedperm.web.documentation import ANYWHERE, DocumentedApp, problems
from fedperm.web.health import Check, health_routes
from fedperm.web.metrics import HttpMetrics
from fedperm.web.problems import install_problems
from fedperm.web.requests import BodyLimits, RequestLayer

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_service(
    *,
    title: str,
    service: str,
    ready: Check,
    registry: CollectorRegistry,
    bulk: re.Pattern[str] | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """`bulk` matches the paths that take bodies of more than a few kilobytes."""
    app = DocumentedApp(
        title=title,
        version=fedperm.__version__,
        lifespan=lifespan,
        responses=problems(*ANYWHERE),
    )
    metrics = HttpMetrics(registry)
    install_problems(app)
    app.include_router(health_routes(service, ready, metrics))
    app.add_middleware(RequestLayer, limits=BodyLimits(bulk), metrics=metrics)
    return app
