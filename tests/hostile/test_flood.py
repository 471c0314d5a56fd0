"""A real aggregator under a crowd that means harm: it serves those who were there before, says no
to the others, and takes no more than it was granted."""

import asyncio
import time
from collections import Counter
from itertools import islice

import pytest

from tests.aggregator.bench import quick_folder
from tests.aggregator.parties import OPERATOR
from tests.hostile.flood import (
    CLOSE,
    JSON,
    NONSENSE,
    PATIENCE_SECONDS,
    RUN,
    Crowd,
    Target,
    head_of,
    talk,
    target,
)
from tests.hostile.siege import Siege, Size

pytestmark = pytest.mark.anyio

WAITING, CONNECTIONS, CLIENTS = 12, 60, 16
CALM_SECONDS = 5.0
"""For a simple question: half of the tests' machine may be busy with something else."""
MEBIBYTES = 64.0


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def aggregator():
    with quick_folder() as folder:
        settings = {"most_waiting": WAITING, "most_connections": CONNECTIONS}
        async with target(folder, CLIENTS, **settings) as found:
            yield found
            assert crashes(found.process.log()) == []
            assert not any(status.startswith("500") for status in await found.statuses())


def crashes(log: str) -> list[str]:
    return [line for line in log.splitlines() if "Traceback" in line]


async def test_so_many_clients_wait_as_is_set_and_the_next_is_told_to_come_again(
    aggregator: Target,
):
    """Waiting costs a connection and little else; simple questions are answered meanwhile."""
    before, clients = aggregator.weight, aggregator.bench.clients
    async with Crowd() as crowd:
        start = time.time()
        await crowd.send(aggregator, (aggregator.poll_of(c, 25) for c in clients[:WAITING]))
        await aggregator.until_heard(clients[:WAITING], start)
        for client in clients[WAITING:]:
            request = aggregator.poll_of(client, 25)[:-2] + b"Connection: close\r\n\r\n"
            status, answer = await talk(aggregator, request)
            assert status == "503"
            assert b"urn:fedperm:problem:busy" in answer
            assert b"retry-after: 1" in answer.lower()
        assert await crowd.answers(0.1) == {"waits": WAITING}
        assert (await aggregator.control_seconds(20))[-1] < CALM_SECONDS
        assert aggregator.weight.files <= before.files + WAITING + CLIENTS
        assert aggregator.weight.mebibytes < before.mebibytes + MEBIBYTES


async def test_one_client_holds_one_poll_however_often_it_asks(aggregator: Target):
    client = aggregator.bench.clients[0]
    async with Crowd() as crowd:
        await crowd.send(aggregator, (aggregator.poll_of(client, 25) for _ in range(30)))
        assert await crowd.answers(PATIENCE_SECONDS, 1) == {"200": 29, "waits": 1}


async def test_connections_beyond_the_setting_are_refused_and_those_before_are_served(
    aggregator: Target,
):
    await aggregator.control_seconds(1)
    async with Crowd() as crowd:
        silent = (b"" for _ in range(4 * CONNECTIONS))
        await crowd.send(aggregator, silent)
        found = await crowd.answers(PATIENCE_SECONDS, CONNECTIONS)
        assert found["cut off"] >= 2 * CONNECTIONS
        assert (await aggregator.control_seconds(20))[-1] < CALM_SECONDS
        assert aggregator.weight.files < 2 * CONNECTIONS + 100
    await _until_room(aggregator)


async def _until_room(aggregator: Target) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await talk(aggregator, head_of("GET", "/livez", **CLOSE)))[0] != "200":
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("what", NONSENSE)
async def test_nonsense_is_refused_and_the_next_request_is_served(aggregator: Target, what: str):
    octets, expected = NONSENSE[what]
    status, answer = await talk(aggregator, octets)
    assert status == expected, answer[:300]
    assert b"500 " not in answer
    assert (await aggregator.control_seconds(1))[0] < CALM_SECONDS


async def test_many_bodies_without_an_end_take_little(aggregator: Target):
    """Chunk after chunk, from all sides at once: each is refused at its limit."""
    before = aggregator.weight
    operator = f"Bearer {OPERATOR}"
    head = head_of("PUT", RUN, Transfer_Encoding="chunked", Authorization=operator, **JSON)
    chunk = b"4000\r\n" + bytes(0x4000) + b"\r\n"
    answers = await asyncio.gather(*(_pour(aggregator, head, chunk) for _ in range(20)))
    assert Counter(answers) == {"413": 20}
    assert aggregator.weight.mebibytes < before.mebibytes + MEBIBYTES
    assert (await aggregator.control_seconds(5))[-1] < CALM_SECONDS


async def _pour(aggregator: Target, head: bytes, chunk: bytes) -> str:
    reader, writer = await aggregator.connect()
    try:
        writer.write(head)
        for _ in islice(iter(int, 1), 100):
            writer.write(chunk)
            await writer.drain()
            if reader._buffer:
                break
        return (await reader.readuntil(b"\r\n")).split(b" ")[1].decode()
    finally:
        writer.transport.abort()


async def test_who_has_no_credential_is_refused_before_anything_is_looked_up(aggregator: Target):
    paths = [RUN, RUN + "/rounds", RUN + "/participants/client-1/task", "/v1/runs/none"]
    requests = [head_of("GET", paths[number % 4], **CLOSE) for number in range(80)]
    answers = [await talk(aggregator, request) for request in requests]
    assert Counter(status for status, _ in answers) == {"401": 80}


async def test_the_long_form_of_the_flood_finds_the_same(aggregator: Target):
    """`make flood`, in small."""
    siege = Siege(4 * CONNECTIONS, Size(WAITING, CONNECTIONS, CLIENTS, 20, CALM_SECONDS))
    await siege.assail(aggregator)
    assert siege.wrong == []
    assert siege.polls == {"waits": WAITING, "503": CLIENTS - WAITING}
    assert siege.others["cut off"] >= 2 * CONNECTIONS
    assert siege.lines()[-1] == "wrong: nothing"


def test_what_a_flood_should_not_do_is_found():
    siege = Siege(1000, Size(waiting=10, most_connections=100, clients=12))
    siege.polls, siege.others = {"waits": 12}, {"waits": 500, "503": 400, "cut off": 88}
    siege.control_seconds, siege.mebibytes, siege.most_files = [0.1, 9.0], [50.0, 900.0], 700
    siege.judge(Counter({"500": 1}))
    assert len(siege.wrong) == 7, siege.wrong
