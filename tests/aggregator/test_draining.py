"""SIGTERM: what is under way is finished or cut, what was acknowledged is kept, exit code 0."""

import asyncio
import signal
import time
from pathlib import Path
from random import Random

import httpx
import pytest

from fedperm.wire.aggregator import TaskKind
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.process import PATIENCE_SECONDS, running, until_open, until_published
from tests.aggregator.test_slow_uploads import dripping
from tests.aggregator.test_stopped_processes import (
    ROUNDS,
    bench_on,
    stop_before_the_fold,
    until_sealed,
)
from tests.aggregator.uploading import headers, put

pytestmark = [pytest.mark.anyio, pytest.mark.system]

DRAIN_SECONDS = 10
"""What is finished in them has long enough, also on a busy machine."""
ENOUGH_SECONDS = 30.0


async def until_incoming(folder: Path, count: int) -> None:
    """So many uploads are under way."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(list(folder.glob("state/incoming/*"))) < count:
            await asyncio.sleep(0.02)


def sending(bench: Bench, client: Client, go_on: asyncio.Event) -> "asyncio.Task[httpx.Response]":
    """Half of an update of round 1; the rest when told."""
    prepared = bench.prepare(client, 1)
    given = headers(bench, client, prepared)
    return asyncio.create_task(put(bench, client, given, dripping(prepared.body, go_on)))


async def send_half(bench: Bench, client: Client) -> bytes:
    """Of an update of round 1, and never the rest; all that comes back."""
    url, prepared = bench.aggregator.http.base_url, bench.prepare(client, 1)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    given = {"Host": url.host, **headers(bench, client, prepared)}
    lines = [f"PUT /v1/runs/{bench.run}/rounds/1/updates/{client.name} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in given.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    writer.write(prepared.body[: len(prepared.body) // 2])
    answer = await reader.read()
    writer.close()
    return answer


async def all_events(bench: Bench, has_begun: asyncio.Event) -> list[str]:
    """Until the stream ends."""
    events = []
    async for event in bench.api.events(bench.run, OPERATOR):
        events.append(event.event)
        has_begun.set()
    return events


async def last_seen(bench: Bench, client: Client) -> float:
    listed = (await bench.api.participants(bench.run, OPERATOR)).participants
    return next(one.last_seen_at for one in listed if one.client == client.name)


async def until_waiting(bench: Bench, client: Client, seen: float) -> None:
    """Whoever waits for a task was heard of after this moment."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await last_seen(bench, client) <= seen:
            await asyncio.sleep(0.02)


async def test_sigterm_ends_everything_within_30_seconds_and_loses_nothing(
    tmp_path: Path, small_key: SecretKey, randomness: Random, clients: list[Client]
):
    ada, ben, cleo = clients
    async with running(tmp_path, drain_seconds=DRAIN_SECONDS) as process:
        folding = bench_on(process, small_key, randomness, clients)
        await folding.create(rounds=ROUNDS)
        await folding.join(*clients)
        receiving = Bench(process, folding.server, randomness, clients)  # type: ignore[arg-type]
        await receiving.create(run="other", rounds={"deadline_seconds": 600.0})
        await receiving.join(*clients)
        await until_open(receiving, ada, 0)
        _, number = await stop_before_the_fold(process, folding)
        await until_sealed(folding, number)  # and the fold hangs

        acknowledged = receiving.prepare(ada, 1)
        await receiving.upload(ada, 1, acknowledged)
        go_on = asyncio.Event()
        slow = sending(receiving, ben, go_on)
        stalled = asyncio.create_task(send_half(receiving, cleo))
        await until_incoming(tmp_path, 2)
        has_begun, seen = asyncio.Event(), await last_seen(receiving, ada)
        stream = asyncio.create_task(all_events(receiving, has_begun))
        token = receiving.server.token(ada)
        poll = asyncio.create_task(receiving.api.next_task(receiving.run, "ada", 0, 30.0, token))
        await until_waiting(receiving, ada, seen)
        await asyncio.wait_for(has_begun.wait(), PATIENCE_SECONDS)

        start = time.monotonic()
        process.signal(signal.SIGTERM)
        assert (await poll).kind == TaskKind.WAIT
        assert await stream
        go_on.set()
        assert (await slow).status_code == 201
        assert b" 201 " not in await stalled
        assert await process.end(signal.SIGTERM) == 0
        assert time.monotonic() - start < ENOUGH_SECONDS

        process.start()
        await until_published(folding, number)
        assert await check_sum(folding, number) == ("ada", "ben")
        again = receiving.sent[1, "ben"], acknowledged
        for client, prepared in zip((ben, ada), again, strict=True):
            assert (await receiving.upload(client, 1, prepared)).sha256
        await receiving.upload(cleo, 1, receiving.sent[1, "cleo"])
        await until_published(receiving, 1)
        assert await check_sum(receiving, 1) == ("ada", "ben", "cleo")
