"""A full disk, or a database that does not answer, is no fault of a job: it waits, and is done."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from fedperm import crash_points
from fedperm.errors import BusyError, StorageFullError
from fedperm.wire.aggregator import EventKind, RoundState, UpdateState
from fedperm_aggregator.crew import MOST_ATTEMPTS, OUTAGE_PAUSE_SECONDS
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio

NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
LOCKED = BusyError("the database is locked", "try again in a second")
FULL = StorageFullError("the database has no room left", "free disk space and try again")

LONG = MOST_ATTEMPTS + 2
"""Attempts: more than a job has."""


@contextmanager
def failing(error: Exception, *moments: str) -> Iterator[Callable[[], int]]:
    """What is written at these moments fails; the function says how often."""
    times = 0

    def watch(moment: str) -> None:
        nonlocal times
        if moment in moments:
            times += 1
            raise error

    with crash_points.watching(watch):
        yield lambda: times


async def long_outage(bench: Bench) -> None:
    for _ in range(LONG):
        await bench.aggregator.tick()
        bench.clock.advance(OUTAGE_PAUSE_SECONDS)


async def readiness(bench: Bench) -> tuple[int, str]:
    answer = await bench.aggregator.http.get("/readyz")
    return answer.status_code, answer.json().get("detail", "")


async def test_a_disk_that_stays_full_for_long_aborts_no_round(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    with failing(NO_ROOM, "Blobs.write_aggregate.unnamed") as times:
        await long_outage(opened)
        assert times() == LONG
        assert await opened.state(1) is RoundState.SEALED
        assert await readiness(opened) == (503, "jobs cannot be done: no room left on the disk")
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    assert (await readiness(opened))[0] == 200
    kinds = {event.event for event in opened.aggregator.events.of_run(opened.run, 0)}
    assert EventKind.JOB_FAILED not in kinds


@pytest.mark.parametrize(
    ("error", "moment"),
    [(FULL, "UpdateStore.settle.uncommitted"), (LOCKED, "RoundStore.publish.uncommitted")],
    ids=["check", "fold"],
)
async def test_what_cannot_be_committed_is_done_again(
    opened: Bench, clients: list[Client], error: Exception, moment: str
):
    await opened.contribute(1, *clients)
    with failing(error, moment):
        await long_outage(opened)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert {update.state for update in report.updates} == {UpdateState.INCLUDED}


async def test_an_outage_that_cannot_even_be_written_down_costs_no_attempt(
    opened: Bench, clients: list[Client]
):
    """Neither the aggregate nor that it failed: as on a disk that holds the database too."""
    await opened.contribute(1, *clients)
    moments = ("Blobs.write_aggregate.unnamed", "JobStore.give_back.uncommitted")
    with failing(FULL, *moments) as times:
        for _ in range(LONG):
            with suppress(StorageFullError):
                await opened.aggregator.services.foreman.tick()
            await opened.aggregator.services.foreman.drain()
            opened.clock.advance(20)
        assert times() > MOST_ATTEMPTS
    await opened.aggregator.tick()
    opened.clock.advance(OUTAGE_PAUSE_SECONDS)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_work_that_could_not_be_written_is_not_begun(
    opened: Bench, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    """Room is asked for before the fold: an answer of the operating system's, here a forged one."""

    def refuse(*_: object) -> None:
        raise NO_ROOM

    await opened.contribute(1, *clients)
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with failing(NO_ROOM, "Blobs.write_aggregate.unnamed") as times:
        await long_outage(opened)
        assert times() == 0
    assert await opened.state(1) is RoundState.SEALED
    monkeypatch.undo()
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    assert not list((opened.aggregator.settings.state_directory / "incoming").iterdir())
