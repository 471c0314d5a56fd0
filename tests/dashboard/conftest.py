"""An aggregator with an open round, the places that show it, and somebody with a browser."""

from collections.abc import AsyncIterator

import pytest

from fedperm_cli.run import event_stream
from tests.aggregator.bench import Bench
from tests.aggregator.conftest import (  # noqa: F401 (fixtures)
    aggregator,
    anyio_backend,
    bench,
    clients,
    clock,
    folder,
    opened,
    opened_state,
    other_key,
    server,
    signing,
)
from tests.dashboard.places import PLACES, Place, at_the_aggregator, at_the_operator
from tests.dashboard.visitor import Visitor


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams that end are opened again at once (`at_the_operator`)."""
    monkeypatch.setattr(event_stream, "_PAUSE_SECONDS", 0.02)


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, opened: Bench) -> AsyncIterator[Place]:  # noqa: F811
    """Each of the two."""
    async with PLACES[request.param](opened) as place:
        yield place


@pytest.fixture
async def own(opened: Bench) -> AsyncIterator[Place]:  # noqa: F811
    """The aggregator's own page."""
    async with at_the_aggregator(opened) as place:
        yield place


@pytest.fixture
async def operators(opened: Bench) -> AsyncIterator[Place]:  # noqa: F811
    """The page on the operator's machine."""
    async with at_the_operator(opened) as place:
        yield place


@pytest.fixture
async def stranger(place: Place) -> AsyncIterator[Visitor]:
    async with Visitor(place) as visitor:
        yield visitor


@pytest.fixture
async def visitor(stranger: Visitor) -> Visitor:
    """Who has logged in."""
    await stranger.log_in()
    return stranger
