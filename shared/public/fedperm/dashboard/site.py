"""The page by itself, for the machine that it is served on: no interface, no TLS."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response

from fedperm.dashboard.browser import moved_to
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.routes import router
from fedperm.web.metrics import HttpMetrics
from fedperm.web.problems import install_problems
from fedperm.web.requests import BodyLimits, RequestLayer

LOOPBACK_NAMES = ("127.0.0.1", "localhost")
"""By which a browser on this machine asks. Any other name that leads here was made to by somebody
else's name server, so that a page of theirs counts as ours (DNS rebinding)."""


def build_site(boards: Callable[[], AbstractAsyncContextManager[Dashboard]]) -> FastAPI:
    """What `boards` gives is open while the site is served."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[None]:
        async with boards() as board:
            app.state.dashboard = board
            yield

    app = FastAPI(title="FedPerm dashboard", lifespan=opened, openapi_url=None)
    install_problems(app)
    app.include_router(router)
    app.add_api_route("/", _to_the_page, include_in_schema=False)
    app.add_middleware(RequestLayer, limits=BodyLimits(), metrics=HttpMetrics(CollectorRegistry()))
    app.add_middleware(
        TrustedHostMiddleware, allowed_hosts=list(LOOPBACK_NAMES), www_redirect=False
    )
    return app


async def _to_the_page() -> Response:
    return moved_to("/dashboard")
