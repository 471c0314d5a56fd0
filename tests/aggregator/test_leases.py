"""Jobs are done once, whatever happens to those who do them."""

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from random import Random
from typing import Any

import pytest
from sqlalchemy import func, select

from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm.wire.events import Event, EventKind
from fedperm.workers import Workers
from fedperm_aggregator.jobs.check import CheckJob
from fedperm_aggregator.jobs.runner import MAX_ATTEMPTS, MAX_LOST
from fedperm_aggregator.stores.jobs import JobStore
from fedperm_aggregator.tables import JobRow
from tests.aggregator.bench import IN_THIS_PROCESS, Aggregator, Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.gated import PATIENCE_SECONDS, gated
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.test_outages import LOCKED, failing
from tests.core.federation import InlineExecutor

pytestmark = pytest.mark.anyio


async def events(bench: Bench, kind: EventKind) -> list[Event]:
    return [e for e in bench.aggregator.events.of_run(bench.run, 0) if e.event == kind]


async def test_a_worker_that_is_slow_keeps_its_job_while_it_says_so(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    other = opened.aggregator.sibling(IN_THIS_PROCESS)
    async with gated(opened.aggregator) as gate:
        await opened.aggregator.services.background.tick()
        gate.wait_for_work()
        for _ in range(3):
            opened.clock.advance(10)
            await opened.aggregator.services.background.tick()
            await other.tick()
        assert await events(opened, EventKind.SUBMISSION_CHECKED) == []
        assert gate.jobs == 1
    assert len(await events(opened, EventKind.SUBMISSION_CHECKED)) == 1


async def test_a_check_that_was_stopped_past_its_lease_writes_nothing(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    other = opened.aggregator.sibling(IN_THIS_PROCESS)
    async with gated(opened.aggregator) as gate:
        await opened.aggregator.services.background.tick()
        gate.wait_for_work()
        await other.tick()
        assert await events(opened, EventKind.SUBMISSION_CHECKED) == []
        opened.clock.advance(16)
        await other.tick()
        assert len(await events(opened, EventKind.SUBMISSION_CHECKED)) == 3
        assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
        assert (await opened.upload(clients[0], 1, opened.sent[1, "ada"])).state == "included"
    assert len(await events(opened, EventKind.SUBMISSION_CHECKED)) == 3
    assert (await opened.upload(clients[0], 1, opened.sent[1, "ada"])).state == "included"


async def test_whoever_lost_a_check_writes_nothing_while_another_is_at_it(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    other = opened.aggregator.sibling(IN_THIS_PROCESS)
    async with gated(other) as second:
        async with gated(opened.aggregator) as first:
            await opened.aggregator.services.background.tick()
            first.wait_for_work()
            opened.clock.advance(16)
            await other.services.background.tick()
            second.wait_for_work()
        assert await events(opened, EventKind.SUBMISSION_CHECKED) == []
    assert len(await events(opened, EventKind.SUBMISSION_CHECKED)) == 1


async def test_whoever_lost_a_fold_publishes_nothing_while_another_is_at_it(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await check_all(opened)
    other = opened.aggregator.sibling(IN_THIS_PROCESS)
    rounds = opened.aggregator.settings.state_directory / "runs" / opened.run / "rounds"
    async with gated(other) as second:
        async with gated(opened.aggregator) as first:
            await opened.aggregator.services.background.tick()
            first.wait_for_work()
            opened.clock.advance(16)
            await other.services.background.tick()
            second.wait_for_work()
        assert await opened.state(1) is RoundState.SEALED
        assert list(rounds.glob("1/aggregate.*")) == []
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    assert len(list(rounds.glob("1/aggregate.*"))) == 1


async def check_all(bench: Bench) -> None:
    """All three updates: the next tick seals the round and starts to fold it."""
    background = bench.aggregator.services.background
    await background.tick()
    await background.drain()


async def test_a_fold_that_was_stopped_past_its_lease_publishes_nothing(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await check_all(opened)
    background = opened.aggregator.services.background
    other = opened.aggregator.sibling(IN_THIS_PROCESS)
    async with gated(opened.aggregator) as gate:
        await background.tick()
        gate.wait_for_work()
        await other.tick()
        assert await opened.state(1) is RoundState.SEALED
        opened.clock.advance(16)
        await other.tick()
        published = await opened.api.aggregate(opened.run, 1, OPERATOR)
    assert await opened.api.aggregate(opened.run, 1, OPERATOR) == published
    assert len(await events(opened, EventKind.ROUND_PUBLISHED)) == 1
    rounds = opened.aggregator.settings.state_directory / "runs" / opened.run / "rounds"
    assert len(list(rounds.glob("1/aggregate.*"))) == 1
    await check_sum(opened, 1)


class Failing(Executor):
    """Every job fails, as on a machine out of memory."""

    def __init__(self, error: Exception, times: int) -> None:
        self._error = error
        self._left = times

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if self._left == 0:
            return InlineExecutor().submit(fn, *args, **kwargs)
        self._left -= 1
        future: Future[Any] = Future()
        future.set_exception(self._error)
        return future


class FailingInTurn(InlineExecutor):
    """Each of these errors once, then it works."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        self._errors = list(errors)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if not self._errors:
            return super().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        future.set_exception(self._errors.pop(0))
        return future


def use(aggregator: Aggregator, workers: Workers) -> None:
    former, aggregator.workers = aggregator.workers, workers
    aggregator.pool.replace(former)


async def attempt(bench: Bench, times: int) -> None:
    for _ in range(times):
        await bench.aggregator.tick()
        bench.clock.advance(3)


async def test_a_job_that_fails_is_tried_again(opened: Bench, clients: list[Client]):
    use(opened.aggregator, Workers(Failing(MemoryError(), times=4), 1))
    await opened.contribute(1, *clients)
    await attempt(opened, 4)
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    failures = await events(opened, EventKind.JOB_FAILED)
    assert [(e.details.kind, e.details.reason) for e in failures] == [("check", "MemoryError")] * 4


async def test_an_update_that_cannot_be_checked_is_rejected_after_five_attempts(
    opened: Bench, clients: list[Client]
):
    use(opened.aggregator, Workers(Failing(MemoryError(), times=MAX_ATTEMPTS), 1))
    await opened.contribute(1, clients[0])
    await attempt(opened, MAX_ATTEMPTS)
    report = await opened.api.submission(UPDATE, opened.run, 1, "ada", OPERATOR)
    assert report.state is SubmissionState.REJECTED
    assert report.reason == "could not be checked: MemoryError (5 attempts)"
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ben", "cleo")


async def test_a_round_that_cannot_be_folded_is_aborted_after_five_attempts(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await check_all(opened)
    use(opened.aggregator, Workers(Failing(MemoryError(), times=-1), 1))
    await attempt(opened, MAX_ATTEMPTS)
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    assert outcome.reason == "could not be folded: MemoryError (5 attempts)"
    assert {u.state for u in (await opened.api.round_report(opened.run, 1, OPERATOR)).updates} == {
        SubmissionState.DROPPED
    }


async def test_an_upload_that_the_disk_changed_is_not_added_silently(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await check_all(opened)
    path = next(opened.aggregator.settings.state_directory.rglob("uploads/ada.*"))
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1
    path.write_bytes(octets)
    await attempt(opened, MAX_ATTEMPTS)
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    assert "has changed since it was accepted" in outcome.reason


async def test_a_pool_that_breaks_is_replaced(opened: Bench, clients: list[Client]):
    broken = Failing(BrokenProcessPool("a process died"), times=-1)
    use(opened.aggregator, Workers(broken, 1))
    opened.aggregator.workers = IN_THIS_PROCESS  # what the next pool will be
    await opened.contribute(1, *clients)
    await attempt(opened, 2)
    assert opened.aggregator.pool.workers is IN_THIS_PROCESS
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


class KilledWorker(Exception):  # noqa: N818 (a name that others chose)
    """As executors of other libraries have them: no BrokenExecutor, and the executor lives on."""


LOST = pytest.mark.parametrize("lost", [BrokenProcessPool, KilledWorker])


def workers_that_lose(executor: Executor, lost: type[Exception]) -> Workers:
    return Workers(executor, 1, lost=(lost,))


def sender_of(job: CheckJob) -> str:
    return job.context.client


class Mortal(Executor):
    """Holds what it is given until told to go on. A job on a poisoned upload then kills a process,
    and with it every job that is held; if that breaks the pool it takes no more."""

    def __init__(self, poison: Collection[str], lost: type[Exception]) -> None:
        self._poison = poison
        self._lost = lost
        self._held: list[tuple[Future[Any], Any, Any]] = []
        self._is_broken = False
        self.deaths = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if self._is_broken:
            raise self._lost("a process died")
        if not isinstance(args[0], CheckJob):
            return InlineExecutor().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        self._held.append((future, fn, args[0]))
        return future

    @property
    def held(self) -> int:
        return len(self._held)

    def go_on(self) -> None:
        dies = any(sender_of(job) in self._poison for _, _, job in self._held)
        self.deaths += dies
        self._is_broken = dies and issubclass(self._lost, BrokenExecutor)
        for future, fn, job in self._held:
            if dies:
                future.set_exception(self._lost("a process died"))
            else:
                future.set_result(fn(job))
        self._held.clear()


def leased(bench: Bench) -> int:
    """Jobs that somebody is at."""
    query = select(func.count()).where(JobRow.owner.is_not(None))
    return bench.aggregator.database.transact(lambda session: session.scalar(query) or 0)


async def until_all_are_held(bench: Bench, pool: Mortal) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while pool.held < leased(bench):
            await asyncio.sleep(0.005)


async def check_while_workers_die(bench: Bench, lost: type[Exception], *poison: str) -> int:
    """Until the round is no longer open; how many workers died of these clients' uploads."""
    aggregator, deaths = bench.aggregator, 0
    use(aggregator, workers_that_lose(Mortal(poison, lost), lost))
    for _ in range(4 * MAX_LOST):
        await aggregator.services.background.tick()
        if await bench.state(1) is not RoundState.OPEN:
            break
        pool = aggregator.pool.workers.executor
        before = pool.deaths
        # what the next pool will be, if this one is replaced
        aggregator.workers = workers_that_lose(Mortal(poison, lost), lost)
        await until_all_are_held(bench, pool)
        pool.go_on()
        await aggregator.services.background.drain()
        deaths += pool.deaths - before
        bench.clock.advance(3)
    await aggregator.tick()
    return deaths


@LOST
async def test_an_upload_that_kills_workers_is_set_aside_and_takes_no_other_with_it(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    """All are checked at once, and each time that the poisoned one is among them all are lost.
    Nobody knows whether the upload or the machine is the cause: it is not rejected."""
    await opened.contribute(1, *clients)
    assert await check_while_workers_die(opened, lost, "ben") == 1 + MAX_LOST
    assert await check_sum(opened, 1) == ("ada", "cleo")
    report = await opened.api.submission(
        UPDATE, opened.run, 1, "ben", opened.server.token(clients[1])
    )
    assert report.state is SubmissionState.DROPPED
    assert report.reason == (
        f"the aggregator could not check it: its worker was lost 5 times ({lost.__name__})"
    )
    assert (report.norm_before, report.norm_after, report.bounded) == (None, None, None)
    failures = await events(opened, EventKind.JOB_FAILED)
    assert {(e.client, e.details.reason) for e in failures} == {
        ("ben", f"its worker was lost ({lost.__name__})")
    }
    assert len(failures) == MAX_LOST - 1
    metrics = (await opened.aggregator.http.get("/metrics")).text.splitlines()
    assert 'fedperm_submissions_total{kind="update",state="dropped"} 1.0' in metrics
    assert 'fedperm_submissions_total{kind="update",state="rejected"} 0.0' in metrics
    again = await opened.upload(clients[1], 1, opened.sent[1, "ben"])
    assert again.state is SubmissionState.DROPPED
    assert (await opened.task(clients[1], settled=1)).round == 2


@LOST
async def test_a_round_is_not_waited_for_an_update_that_was_set_aside(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    """Two of three are set aside: the third is too few, and nobody is left to wait for."""
    await opened.contribute(1, *clients)
    await check_while_workers_die(opened, lost, "ben", "cleo")
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    assert outcome.reason == "1 of 3 selected clients sent a valid update, 2 are needed"


@LOST
async def test_a_round_whose_fold_kills_workers_is_aborted_with_the_reason(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    await opened.contribute(1, *clients)
    await check_all(opened)
    use(opened.aggregator, workers_that_lose(Failing(lost("a process died"), times=-1), lost))
    await attempt(opened, MAX_LOST + 1)
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    assert outcome.reason == (f"could not be folded: its worker was lost 5 times ({lost.__name__})")
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert {update.state for update in report.updates} == {SubmissionState.DROPPED}


@LOST
async def test_a_fold_that_loses_workers_and_then_succeeds_is_published(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    """The first loss does not count: it might have been another job's."""
    await opened.contribute(1, *clients)
    await check_all(opened)
    use(opened.aggregator, workers_that_lose(FailingInTurn([lost("died")] * MAX_LOST), lost))
    await attempt(opened, MAX_LOST + 1)
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


@LOST
async def test_lost_workers_cost_a_job_none_of_its_attempts(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    """As many as it may lose, and as many errors as it may have, and then it succeeds."""
    errors = [lost("a process died")] * MAX_LOST + [MemoryError()] * (MAX_ATTEMPTS - 1)
    use(opened.aggregator, workers_that_lose(FailingInTurn(errors), lost))
    await opened.contribute(1, clients[0])
    await attempt(opened, len(errors) + 1)
    report = await opened.api.submission(UPDATE, opened.run, 1, "ada", OPERATOR)
    assert report.state is SubmissionState.VALID
    reasons = [e.details.reason for e in await events(opened, EventKind.JOB_FAILED)]
    assert reasons == [f"its worker was lost ({lost.__name__})"] * (MAX_LOST - 1) + [
        "MemoryError"
    ] * (MAX_ATTEMPTS - 1)


async def test_an_executor_that_only_lost_a_worker_is_kept(opened: Bench, clients: list[Client]):
    executor = FailingInTurn([KilledWorker()] * 3)
    use(opened.aggregator, workers_that_lose(executor, KilledWorker))
    await opened.contribute(1, *clients)
    await attempt(opened, 8)
    assert opened.aggregator.pool.workers.executor is executor
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_an_error_that_is_not_said_to_mean_a_loss_is_the_jobs_own(
    opened: Bench, clients: list[Client]
):
    use(opened.aggregator, workers_that_lose(Failing(KilledWorker(), times=-1), BrokenProcessPool))
    await opened.contribute(1, clients[0])
    await attempt(opened, MAX_ATTEMPTS)
    report = await opened.api.submission(UPDATE, opened.run, 1, "ada", OPERATOR)
    assert report.state is SubmissionState.REJECTED
    assert report.reason == "could not be checked: KilledWorker (5 attempts)"


@LOST
async def test_a_verdict_that_cannot_be_written_is_written_later(
    opened: Bench, clients: list[Client], lost: type[Exception]
):
    """The database is away when the update is to be set aside: it still is, and never rejected."""
    use(opened.aggregator, workers_that_lose(Failing(lost("a process died"), times=-1), lost))
    await opened.contribute(1, clients[0])
    with failing(LOCKED, "SubmissionStore.settle.uncommitted") as times:
        await attempt(opened, 2 * MAX_LOST + 4)
        assert times() > 1
    assert (
        await opened.api.submission(UPDATE, opened.run, 1, "ada", OPERATOR)
    ).state is SubmissionState.STORED
    await attempt(opened, 4)
    report = await opened.api.submission(UPDATE, opened.run, 1, "ada", OPERATOR)
    assert report.state is SubmissionState.DROPPED


async def test_a_shutdown_gives_unfinished_jobs_back_without_counting_the_attempt(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    async with gated(opened.aggregator) as gate:
        await opened.aggregator.services.background.tick()
        gate.wait_for_work()
        await asyncio.to_thread(opened.aggregator.services.background.stop)
    (lease,) = JobStore(opened.aggregator.database).claim(opened.clock.now(), 15, 9, Random(1))
    assert (lease.client, lease.attempt) == ("ada", 1)


async def test_a_lease_from_before_the_clock_was_set_back_holds_nobody_up(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    jobs = JobStore(opened.aggregator.database)
    now = opened.clock.now()
    (abandoned,) = jobs.claim(now + 7200, 15, 9, Random(1))
    (claimed,) = jobs.claim(now, 15, 9, Random(2))
    assert (claimed.job, claimed.attempt) == (abandoned.job, 2)
    assert jobs.claim(now + 14, 15, 9, Random(3)) == []
    (again,) = jobs.claim(now + 15, 15, 9, Random(4))
    assert again.owner not in {abandoned.owner, claimed.owner}
