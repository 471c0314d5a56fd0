"""A run on either database: crashes, and uploads while their round is being sealed."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from fedperm.errors import BusyError, RefusedError
from fedperm.wire.aggregator import RunState
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client, KeyServer, ManualClock
from tests.aggregator.uploading import refused
from tests.storage.postgresql import PostgreSQL

pytestmark = pytest.mark.anyio

RACES = 4


@pytest.fixture
def aggregator(folder: Path, clock: ManualClock, database_url: str) -> Iterator[Aggregator]:
    aggregator = Aggregator(folder, clock, database_url=database_url)
    yield aggregator
    aggregator.close()


async def test_a_whole_run_with_a_crash_and_a_new_key_is_exact(bench: Bench, clients: list[Client]):
    await bench.create(rounds={"count": 2})
    await bench.join(*clients)
    await bench.aggregator.tick()
    await bench.put_epoch(2)
    await bench.contribute(1, *clients)
    crashed, bench.aggregator = bench.aggregator, bench.aggregator.restarted()
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    await bench.contribute(2, *clients, epoch=2)
    await bench.aggregator.tick()
    assert await check_sum(bench, 2, epoch=2) == ("ada", "ben", "cleo")
    assert (await bench.api.run(bench.run, OPERATOR)).state is RunState.COMPLETED
    assert (await bench.aggregator.http.get("/readyz")).status_code == 200
    assert bench.aggregator.events.of_run(bench.run, after=(1 << 63) - 1) == []
    bench.aggregator.close()
    crashed.close()


async def test_an_upload_that_is_acknowledged_while_its_round_is_sealed_is_in_it(
    bench: Bench, clients: list[Client]
):
    """At the deadline two of three updates are there, and the third is on its way."""
    *early, late = clients
    await bench.create(rounds={"count": RACES, "deadline_seconds": 60.0})
    await bench.join(*clients)
    for number in range(1, RACES + 1):
        await bench.beat(*clients)
        await bench.aggregator.tick()
        await bench.contribute(number, *early)
        await bench.aggregator.tick()
        bench.clock.advance(61)
        was_acknowledged, _ = await asyncio.gather(
            acknowledged(bench, late, number), bench.aggregator.tick()
        )
        await bench.aggregator.tick()
        included = await check_sum(bench, number)
        assert (late.name in included) == was_acknowledged


async def acknowledged(bench: Bench, client: Client, number: int) -> bool:
    try:
        await bench.contribute(number, client)
    except RefusedError as refusal:
        return refusal.status != 410  # anything else is neither: it shows as a missing update
    return True


async def test_a_crash_of_postgresql_in_the_middle_of_a_run_loses_nothing(
    folder: Path,
    clock: ManualClock,
    postgresql: PostgreSQL,
    server: KeyServer,
    randomness: Random,
    clients: list[Client],
):
    """While it is away everybody is told to come again."""
    aggregator = Aggregator(folder, clock, database_url=postgresql.new_database())
    bench = Bench(aggregator, server, randomness, clients)
    ada, *others = clients
    await bench.create(rounds={"count": 1})
    await bench.join(*clients)
    await aggregator.tick()
    await bench.contribute(1, ada)
    late = bench.prepare(others[0], 1)
    postgresql.stop()
    assert await refused(bench, others[0], 1, late) == (503, "busy")
    assert (await aggregator.http.get("/readyz")).status_code == 503
    with pytest.raises(BusyError):
        await aggregator.services.background.tick()
    postgresql.start()
    await bench.upload(others[0], 1, late)
    await bench.contribute(1, *others[1:])
    await aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    aggregator.close()
