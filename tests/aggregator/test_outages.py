"""A full disk, or a database that does not answer, is no fault of a job: it waits, and is done."""

import asyncio
import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from fedperm import crash_points
from fedperm.errors import BusyError, StorageFullError
from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm.wire.events import EventKind
from fedperm_aggregator.jobs.runner import MAX_ATTEMPTS, OUTAGE_PAUSE_SECONDS
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.gated import PATIENCE_SECONDS
from tests.aggregator.parties import OPERATOR, Client, Prepared
from tests.aggregator.uploading import files, headers, put

pytestmark = pytest.mark.anyio

NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
LOCKED = BusyError("the database is locked", "try again in a second")
FULL = StorageFullError("the database has no room left", "free disk space and try again")

LONG = MAX_ATTEMPTS + 2
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


async def test_an_upload_that_finds_no_room_leaves_nothing_behind(
    opened: Bench, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    """At the end of its body, when it gets its name, and when its row is written."""
    prepared = opened.prepare(clients[0], 1)
    monkeypatch.setattr(os, "fsync", refused_by_the_system)
    await check_refused(opened, clients[0], prepared, 507)
    monkeypatch.undo()
    for error, moment, status in (
        (NO_ROOM, "FileBlobStore.keep.unnamed", 507),
        (FULL, "SubmissionStore.store.uncommitted", 507),
        (LOCKED, "SubmissionStore.store.uncommitted", 503),
    ):
        with failing(error, moment) as times:
            await check_refused(opened, clients[0], prepared, status)
            assert times() == 1
    await opened.upload(clients[0], 1, prepared)
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def check_refused(bench: Bench, client: Client, prepared: Prepared, status: int) -> None:
    answer = await put(bench, client, headers(bench, client, prepared), prepared.body)
    assert answer.status_code == status
    assert int(answer.headers["Retry-After"]) >= 1
    assert files(bench) == []
    report = await bench.api.round_report(bench.run, 1, OPERATOR)
    assert report.updates == ()


def refused_by_the_system(*_: object) -> None:
    raise NO_ROOM


async def readiness(bench: Bench) -> tuple[int, str]:
    answer = await bench.aggregator.http.get("/readyz")
    return answer.status_code, answer.json().get("detail", "")


async def test_a_disk_that_stays_full_for_long_aborts_no_round(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    with failing(NO_ROOM, "FileBlobStore.write.unnamed") as times:
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
    [
        (FULL, "SubmissionStore.settle.uncommitted"),
        (LOCKED, "RoundStore.keep_aggregate.uncommitted"),
    ],
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
    assert {update.state for update in report.updates} == {SubmissionState.INCLUDED}


async def test_an_outage_that_cannot_even_be_written_down_costs_no_attempt(
    opened: Bench, clients: list[Client]
):
    """Neither the aggregate nor that it failed: as on a disk that holds the database too."""
    await opened.contribute(1, *clients)
    moments = ("FileBlobStore.write.unnamed", "JobStore.give_back.uncommitted")
    with failing(FULL, *moments) as times:
        for _ in range(LONG):
            with suppress(StorageFullError):
                await opened.aggregator.services.background.tick()
            await opened.aggregator.services.background.drain()
            opened.clock.advance(20)
        assert times() > MAX_ATTEMPTS
    await opened.aggregator.tick()
    opened.clock.advance(OUTAGE_PAUSE_SECONDS)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_work_that_could_not_be_written_is_not_begun(
    opened: Bench, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    """Room is asked for before the fold: an answer of the operating system's, here a forged one."""

    await opened.contribute(1, *clients)
    monkeypatch.setattr(os, "posix_fallocate", refused_by_the_system)
    with failing(NO_ROOM, "FileBlobStore.write.unnamed") as times:
        await long_outage(opened)
        assert times() == 0
    assert await opened.state(1) is RoundState.SEALED
    monkeypatch.undo()
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    assert not list((opened.aggregator.settings.state_directory / "incoming").iterdir())


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("JobStore.claim.uncommitted", "a tick failed"),
        ("RoundStore.advance.Advance.uncommitted", "run digits cannot go on for now"),
        ("SubmissionStore.settle.uncommitted", "a job has to wait: the database has no room left"),
    ],
)
async def test_trouble_is_logged_once_however_long_it_lasts(
    opened: Bench, clients: list[Client], caplog: pytest.LogCaptureFixture, moment: str, said: str
):
    """The log may lie on the disk that is full."""
    background = opened.aggregator.services.background
    await opened.contribute(1, *clients[: 3 if "Advance" in moment else 1])
    with failing(FULL, moment) as times:
        loop = asyncio.create_task(background.run(0.0))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while times() < 10:
                opened.clock.advance(OUTAGE_PAUSE_SECONDS)
                await asyncio.sleep(0.01)
    background.leave_off()
    await loop
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == [said]
