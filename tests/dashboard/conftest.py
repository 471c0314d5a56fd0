"""An aggregator with an open round, and somebody with a browser."""

from collections.abc import AsyncIterator

import pytest

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
from tests.dashboard.visitor import Visitor


@pytest.fixture
async def stranger(opened: Bench) -> AsyncIterator[Visitor]:  # noqa: F811
    async with Visitor(opened.aggregator.app) as visitor:
        yield visitor


@pytest.fixture
async def visitor(stranger: Visitor) -> Visitor:
    """Who has logged in."""
    await stranger.log_in()
    return stranger
