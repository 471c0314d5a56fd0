"""A crash at any moment: the next process goes on where the last one was.

Each test puts the disk and the database into the state that a crash at one point leaves behind.
"""

from pathlib import Path

import pytest
from sqlalchemy import update

from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm_aggregator.tables import RunRow
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.gated import gated
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio


def restart(bench: Bench) -> None:
    bench.aggregator = bench.aggregator.restarted()


def state_files(bench: Bench) -> list[Path]:
    state = bench.aggregator.settings.state_directory
    return sorted(path for path in state.rglob("*.safetensors*") if path.is_file())


async def finish_run(bench: Bench, clients: list[Client], number: int) -> None:
    """All rounds from this one on."""
    for later in range(number, 3):
        await bench.beat(*clients)
        await bench.aggregator.tick()
        await bench.contribute(later, *await bench.asked(clients, settled=later - 1))
        await bench.aggregator.tick()
        assert await check_sum(bench, later) == ("ada", "ben", "cleo")
    status = await bench.api.run(bench.run, OPERATOR)
    assert status.state is RunState.COMPLETED


async def test_before_anything_is_there(bench: Bench, clients: list[Client]):
    await bench.create()
    restart(bench)
    await bench.join(*clients)
    await bench.aggregator.tick()
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")


async def test_with_an_open_round(opened: Bench, clients: list[Client]):
    await opened.contribute(1, clients[0])
    restart(opened)
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_after_the_commit_and_before_the_answer(opened: Bench, clients: list[Client]):
    """The client does not know, and sends the same bytes again."""
    await opened.contribute(1, *clients)
    restart(opened)
    receipt = await opened.upload(clients[0], 1, opened.sent[1, "ada"])
    assert receipt.state is SubmissionState.STORED
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_in_the_middle_of_a_body_and_after_the_rename(opened: Bench, clients: list[Client]):
    """What was never acknowledged is swept, what was is kept."""
    await opened.contribute(1, clients[0])
    kept = state_files(opened)
    state = opened.aggregator.settings.state_directory
    half = state / "incoming" / "0123.new"
    unacknowledged = next(state.rglob("uploads")) / f"ben.{'0' * 64}.safetensors"
    for path in (half, unacknowledged):
        path.write_bytes(b"octets")
    restart(opened)
    assert not half.exists()
    assert state_files(opened) == kept
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_while_updates_are_being_checked(opened: Bench, clients: list[Client]):
    """The jobs are leased to a process that is gone: its successor need not wait."""
    await opened.contribute(1, *clients)
    async with gated(opened.aggregator) as gate:
        await opened.aggregator.services.background.tick()
        gate.wait_for_work()
        restart(opened)
        await opened.aggregator.tick()
        assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_while_a_sealed_round_is_being_folded(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    await check_updates(opened)
    async with gated(opened.aggregator) as gate:
        await opened.aggregator.services.background.tick()
        gate.wait_for_work()
        assert await opened.state(1) is RoundState.SEALED
        restart(opened)
        await opened.aggregator.tick()
        assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    # the old process comes back to life: what is published stands, and nothing is left of it
    published = await opened.api.aggregate(opened.run, 1, OPERATOR)
    await finish_run(opened, clients, 2)
    assert await opened.api.aggregate(opened.run, 1, OPERATOR) == published
    aggregates = [path for path in state_files(opened) if path.name.startswith("aggregate")]
    assert len(aggregates) == 2


async def check_updates(bench: Bench) -> None:
    """All three: the next tick seals the round and starts to fold it."""
    background = bench.aggregator.services.background
    await background.tick()
    await background.drain()


async def test_after_the_aggregate_is_written_and_before_it_is_published(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    folder = opened.aggregator.settings.state_directory / "runs" / opened.run / "rounds" / "1"
    orphan = folder / f"aggregate.{'0' * 64}.safetensors"
    orphan.write_bytes(b"never published")
    restart(opened)
    assert not orphan.exists()
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_after_publishing_and_before_scrubbing(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    uploads = {path: path.read_bytes() for path in state_files(opened) if "uploads" in path.parts}
    assert len(uploads) == 3
    await opened.aggregator.tick()
    for path, octets in uploads.items():
        path.write_bytes(octets)
    restart(opened)
    assert not any(path.exists() for path in uploads)


async def test_between_rounds(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    before = await opened.api.aggregate(opened.run, 1, OPERATOR)
    restart(opened)
    assert await opened.api.aggregate(opened.run, 1, OPERATOR) == before
    await finish_run(opened, clients, 2)


async def test_when_the_deadline_passed_while_it_was_down(opened: Bench, clients: list[Client]):
    """Too few had answered: those who could not reach it get the extension from now on."""
    await opened.contribute(1, clients[0])
    opened.clock.advance(3600)
    restart(opened)
    await opened.aggregator.tick()
    assert await opened.state(1) is RoundState.OPEN
    assert (await opened.task(clients[1])).deadline_at == opened.clock.now() + 20
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_a_completed_run_stays_completed(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    await opened.contribute(2, *clients)
    await opened.aggregator.tick()
    restart(opened)
    await opened.aggregator.tick()
    assert (await opened.api.run(opened.run, OPERATOR)).state is RunState.COMPLETED
    for number in (1, 2):
        await check_sum(opened, number)


async def test_files_of_runs_that_the_database_does_not_know_are_left_alone(opened: Bench):
    """It may be the wrong database."""
    precious = opened.aggregator.settings.state_directory / "runs" / "other" / "rounds" / "1"
    precious.mkdir(parents=True)
    (precious / "aggregate.safetensors").write_bytes(b"of another database")
    restart(opened)
    assert (precious / "aggregate.safetensors").exists()


async def test_a_run_that_cannot_be_read_does_not_hold_up_the_others(
    opened: Bench, clients: list[Client]
):
    """Damaged, or of a version that this one does not know."""
    with opened.aggregator.database.engine.begin() as connection:
        connection.execute(update(RunRow).values(document=b"{}"))
    restart(opened)
    await opened.create(run="another", rounds={"count": 1})
    await opened.join(*clients)
    await opened.aggregator.tick()
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_whoever_was_heard_of_shortly_before_still_counts_as_online(
    opened: Bench, clients: list[Client]
):
    """Else the first round after a restart would ask only those who happen to be quickest."""
    opened.clock.advance(100)
    await opened.beat(*clients[:2])
    await opened.aggregator.tick()
    restart(opened)
    listed = (await opened.api.participants(opened.run, OPERATOR)).participants
    assert [p.online for p in listed] == [True, True, False]
    assert [p.last_seen_at - p.joined_at for p in listed] == [100, 100, 0]
