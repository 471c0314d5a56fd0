"""Senders that are slow, stall or go away."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.submissions import UPDATE
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import Client, KeyServer, ManualClock
from tests.aggregator.uploading import WRONG_BODY, files, finish, headers, put

pytestmark = pytest.mark.anyio


async def dripping(body: bytes, go_on: asyncio.Event) -> AsyncIterator[bytes]:
    """Half of it, and the rest when told."""
    half = len(body) // 2
    yield body[:half]
    await go_on.wait()
    yield body[half:]


async def until_received(bench: Bench, count: int) -> None:
    """So many uploads are under way."""
    async with asyncio.timeout(20):
        while len(files(bench)) < count:
            await asyncio.sleep(0.01)


async def test_a_body_that_stalls_is_given_up(
    tmp_path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
):
    aggregator = Aggregator(tmp_path, clock, body_idle_seconds=0.1)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create()
    await bench.join(*clients)
    await aggregator.tick()
    prepared = bench.prepare(clients[0], 1)
    stalling = dripping(prepared.body, asyncio.Event())
    response = await put(bench, clients[0], headers(bench, clients[0], prepared), stalling)
    assert (response.status_code, response.json()["type"]) == (422, WRONG_BODY)
    assert "nothing of the body came for 0.1 s" in response.json()["detail"]
    assert files(bench) == []
    await finish(bench, clients)
    aggregator.close()


async def test_one_slow_client_holds_nobody_up(opened: Bench, clients: list[Client]):
    """The others' uploads, the seal and the fold go on; what comes too late is gone."""
    slow, *others = clients
    go_on = asyncio.Event()
    prepared = opened.prepare(slow, 1)
    body = dripping(prepared.body, go_on)
    sending = asyncio.create_task(put(opened, slow, headers(opened, slow, prepared), body))
    await until_received(opened, 1)
    await opened.contribute(1, *others)
    opened.clock.advance(61)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ben", "cleo")
    go_on.set()
    response = await sending
    assert (response.status_code, response.json()["title"]) == (410, "Too late")
    assert files(opened) == []


async def test_a_client_has_two_uploads_under_way_at_most(opened: Bench, clients: list[Client]):
    """The second may be the retry of one whose connection died; both end well."""
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    given = headers(opened, ada, prepared)
    go_on = asyncio.Event()
    sending = [
        asyncio.create_task(put(opened, ada, given, dripping(prepared.body, go_on)))
        for _ in range(2)
    ]
    await until_received(opened, 2)
    third = await put(opened, ada, given, prepared.body)
    assert (third.status_code, third.headers["Retry-After"]) == (503, "1")
    go_on.set()
    answers = sorted(response.status_code for response in await asyncio.gather(*sending))
    assert answers == [200, 201]
    assert len(files(opened)) == 1
    assert (await put(opened, ada, given, prepared.body)).status_code == 200
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_many_identical_retries_at_once_are_one_update(opened: Bench, clients: list[Client]):
    """Busy ones come back; everybody gets a receipt of the same update."""
    prepared = opened.prepare(clients[0], 1)
    patience = Patience(20.0, sleep=lambda seconds: asyncio.sleep(seconds / 20))
    patient = AggregatorApi(Connection(opened.aggregator.http, patience))
    token = opened.server.token(clients[0])
    receipts = await asyncio.gather(
        *(
            patient.submit(UPDATE, opened.run, 1, "ada", prepared.body, prepared.manifest, token)
            for _ in range(6)
        )
    )
    assert len({receipt.sha256 for receipt in receipts}) == 1
    assert len(files(opened)) == 1
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_a_sender_that_goes_away_leaves_nothing(opened: Bench, clients: list[Client], caplog):
    """As a server tells it: a part of the body, then the end of the connection."""
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    path = f"/v1/runs/{opened.run}/rounds/1/updates/ada"
    given = headers(opened, ada, prepared)
    scope = {
        "type": "http",
        "method": "PUT",
        "path": path,
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
    }
    messages = [
        {"type": "http.request", "body": prepared.body[:100], "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await opened.aggregator.app(scope, receive, send)
    assert sent[0]["status"] == 422
    assert files(opened) == []
    assert "error" not in caplog.text.lower()
    await finish(opened, clients)
