"""The real thing: `python -m fedperm_aggregator`, real HTTP, real worker processes, real kills."""

import asyncio
import signal
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random

import pytest

from fedperm.wire.aggregator import RunState, TaskKind
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.events import EventKind
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client, KeyServer
from tests.aggregator.process import (
    PATIENCE_SECONDS,
    Process,
    running,
    until_open,
    until_published,
)
from tests.aggregator.test_pool import wait_until_gone

pytestmark = pytest.mark.anyio


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[Process]:
    async with running(tmp_path) as process:
        yield process


@pytest.fixture
def live(
    process: Process, small_key: SecretKey, randomness: Random, clients: list[Client]
) -> Bench:
    server = KeyServer(process.clock, {1: small_key})
    return Bench(process, server, randomness, clients)  # type: ignore[arg-type]


async def test_a_run_survives_a_kill_in_the_middle_of_a_round(process: Process, live: Bench):
    clients = live.clients
    await live.create(rounds={"count": 1, "deadline_seconds": 600.0})
    await live.join(*clients)
    await until_open(live, clients[0], settled=0)
    await live.contribute(1, *clients[:2])
    workers = process.children()
    assert await process.end(signal.SIGKILL) == -signal.SIGKILL
    for worker in workers:
        wait_until_gone(worker)
    process.start()
    assert (await live.upload(clients[0], 1, live.sent[1, "ada"])).sha256
    await live.contribute(1, clients[2])
    await until_published(live, 1)
    assert await check_sum(live, 1) == ("ada", "ben", "cleo")
    status = await live.api.run(live.run, OPERATOR)
    assert status.state in {RunState.RUNNING, RunState.COMPLETED}
    assert OPERATOR not in process.log()


@asynccontextmanager
async def following(bench: Bench, seen: list[str]) -> AsyncIterator[None]:
    """Collects events as they come; the stream must end by itself."""

    async def follow() -> None:
        async for event in bench.api.events(bench.run, OPERATOR):
            seen.append(event.event)  # noqa: PERF401 (others look at it meanwhile)

    reader = asyncio.create_task(follow())
    yield
    await asyncio.wait_for(reader, PATIENCE_SECONDS)


def send_before_listening(process: Process, path: str, token: str) -> int:
    """The standard library's client sends everything before it reads the answer's status."""
    connection = HTTPConnection(process.http.base_url.netloc.decode())
    headers = {"Authorization": f"Bearer {token}", "Content-Type": MEDIA_TYPE}
    connection.request("PUT", path, bytes(1 << 25), headers)
    status = connection.getresponse().status
    connection.close()
    return status


NO_HTTP = (
    b"nonsense\r\n\r\n",
    b"PUT /v1/runs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
)


def answer_to(process: Process, octets: bytes) -> bytes:
    """All that comes until the connection is closed."""
    url = process.http.base_url
    with socket.create_connection((url.host, url.port), PATIENCE_SECONDS) as connection:
        connection.sendall(octets)
        return b"".join(iter(lambda: connection.recv(4096), b""))


async def test_a_refusal_reaches_its_sender_and_a_stop_ends_streams_and_polls(
    process: Process, live: Bench
):
    for octets in NO_HTTP:
        answer = await asyncio.to_thread(answer_to, process, octets)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"text/plain" in answer
    clients = live.clients
    await live.create()
    now = int(live.clock.now())
    expired = live.server.token_with(clients[0], iat=now - 90_000, exp=now - 86_400)
    path = f"/v1/runs/{live.run}/rounds/1/updates/ada"
    assert await asyncio.to_thread(send_before_listening, process, path, expired) == 401
    await live.join(clients[0])
    seen: list[str] = []
    token = live.server.token(clients[0])
    async with following(live, seen):
        poll = asyncio.create_task(live.api.next_task(live.run, "ada", 0, 30.0, token))
        await live.join(clients[1])
        async with asyncio.timeout(PATIENCE_SECONDS):
            while seen.count(EventKind.PARTICIPANT_JOINED) < 2:
                await asyncio.sleep(0.02)
        start = time.monotonic()
        ending = asyncio.create_task(process.end(signal.SIGTERM))
        assert (await poll).kind == TaskKind.WAIT
        code = await ending
    assert time.monotonic() - start < 20  # and not the 30 s that requests may take
    assert code == 0
    assert '"level": "error"' not in process.log()
