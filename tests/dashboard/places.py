"""The two places that serve the page: an aggregator, and the operator's machine, which reads the
same aggregator over its interface."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import httpx
from fastapi import FastAPI

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.entrance import LoginLinks, by_link
from fedperm.dashboard.site import build_site
from fedperm.run_notifier import RunNotifier
from fedperm_cli.dashboard.opening import opening_with
from fedperm_cli.dashboard.remote_runs import RemoteRuns
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.servers.sessions import RunOperator
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR
from tests.documents.operator import IDENTITY

SESSION_SECONDS = 8 * 3600.0


@dataclass(frozen=True)
class Place:
    """`keys` are what opened its door one after the other, the newest last."""

    bench: Bench
    app: FastAPI
    dashboard: Dashboard
    notifier: RunNotifier
    address: str
    keys: list[str]

    @property
    def key(self) -> str:
        """What opens the door now."""
        return self.keys[-1]

    async def caught_up(self) -> None:
        """Until the page's source has heard what has happened to the run."""
        newest = max(e.id for e in self.bench.aggregator.events.of_run(self.bench.run, 0))
        async with asyncio.timeout(30):
            while (await self.dashboard.source.changes(self.bench.run, 0)).position < newest:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def at_the_aggregator(bench: Bench) -> AsyncIterator[Place]:
    services = bench.aggregator.services
    yield Place(
        bench,
        bench.aggregator.app,
        services.dashboard,
        services.notifier,
        "https://aggregator",
        [OPERATOR],
    )


@asynccontextmanager
async def at_the_operator(
    bench: Bench,
    line: httpx.AsyncBaseTransport | None = None,
    identity: OperatorIdentity | None = IDENTITY,
) -> AsyncIterator[Place]:
    """Streams of an aggregator that is stopping end when all is told, and are opened again."""
    http = http_client("http://aggregator", transport=line or transport_to(bench))
    operator = RunOperator(AggregatorApi(Connection(http, Patience(0.0))), OPERATOR)
    bench.aggregator.services.notifier.close()
    keys: list[str] = []
    notifier = RunNotifier()
    links = LoginLinks(Random(9), keys.append)

    @asynccontextmanager
    async def board() -> AsyncIterator[Dashboard]:
        async with RemoteRuns(operator, notifier) as source:
            yield Dashboard.of(
                source,
                opening_with(identity),
                by_link(links),
                notifier,
                bench.clock,
                Random(10),
                SESSION_SECONDS,
            )

    app = build_site(board)
    async with app.router.lifespan_context(app):
        yield Place(bench, app, app.state.dashboard, notifier, "http://127.0.0.1:8200", keys)


def transport_to(bench: Bench) -> httpx.AsyncBaseTransport:
    return httpx.ASGITransport(app=bench.aggregator.app, raise_app_exceptions=False)


PLACES = {"aggregator": at_the_aggregator, "operator": at_the_operator}
