"""A body is waited for, but not for ever."""

import asyncio
import itertools
import re

import httpx
import pytest
from prometheus_client import CollectorRegistry

from fedperm.web.incoming_body import Pace
from fedperm.web.metrics import HttpMetrics
from fedperm.web.requests import BodyLimits, RequestLayer
from tests.web.edge import edge_service

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
HASTY = BodyLimits(
    bulk=re.compile("/bulk/[a-z]+"), pace=Pace(0.1), bulk_pace=Pace(0.1, octets_per_second=1e5)
)


def hasty_service() -> RequestLayer:
    return RequestLayer(edge_service(), HASTY, HttpMetrics(CollectorRegistry()))


@pytest.fixture
async def http():
    transport = httpx.ASGITransport(app=hasty_service(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://edge") as http:
        yield http


async def stalling():
    yield b'{"count": '
    await asyncio.Event().wait()


async def dripping():
    """Never still, never done."""
    for _ in itertools.count():
        yield b" "
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", ["/things", "/bulk/a"])
@pytest.mark.parametrize("body", [stalling, dripping])
async def test_a_body_that_does_not_come_to_an_end_is_refused(http, path, body):
    async with asyncio.timeout(20):
        response = await http.put(path, content=body(), headers=JSON)
    assert response.status_code == 422
    assert response.json()["type"] == "urn:fedperm:problem:wrong-body"
    assert "too slowly" in response.json()["detail"]
    assert response.headers["Connection"] == "close"


async def test_a_bulk_body_may_take_the_longer_the_more_has_come(http):
    """0.3 s of waiting, and more than a hundred thousand octets a second have come."""

    async def steady():
        for _ in range(6):
            yield bytes(200_000)
            await asyncio.sleep(0.05)

    response = await http.put("/bulk/a", content=steady())
    assert (response.status_code, response.json()) == (200, 1_200_000)
    assert "Connection" not in response.headers
