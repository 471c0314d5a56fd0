"""What the aggregator's stores promise, on SQLite and on PostgreSQL, to many threads at once.

Two sets of stores share each database, so whatever holds does not hold by a lock in memory.
"""

from random import Random
from threading import Semaphore

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from fedperm import crash_points
from fedperm.errors import BusyError, ConflictError, GoneError
from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm.wire.events import EventKind
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import Advance, FoldProgress, JobKind
from fedperm_aggregator.tables import JobRow, SubmissionRow
from tests.stores.shared_run import (
    LEASE_SECONDS,
    NOW,
    VALID,
    SharedRun,
    aggregate,
    at_once,
    digest,
    sealing,
)

THREADS = 8
PATIENCE_SECONDS = 60


@pytest.fixture
def shared(database_url):
    shared = SharedRun(database_url, THREADS)
    yield shared
    shared.close()


def rows(shared: SharedRun, table: type) -> int:
    query = select(func.count()).select_from(table)
    return shared.database.transact(lambda session: session.scalar(query))


def refusals(results: list[object], kind: type[Exception]) -> int:
    return sum(isinstance(result, kind) for result in results)


def test_the_same_bytes_again_change_nothing(shared):
    first, is_new = shared.store("client-0", 1)
    assert is_new
    assert shared.store("client-0", 1) == (first, False)
    assert (rows(shared, SubmissionRow), rows(shared, JobRow)) == (1, 1)


def test_other_bytes_are_refused_and_the_first_stay(shared):
    shared.store("client-0", 1)
    with pytest.raises(ConflictError):
        shared.store("client-0", 2)
    assert shared.stores.submissions.slot(shared.place("client-0")).stored.sha256 == digest(1)


def test_a_place_is_taken_once_whoever_comes_at_once(shared):
    results = at_once(THREADS, lambda i: shared.store("client-0", i, shared.sides[i % 2]))
    assert refusals(results, ConflictError) == THREADS - 1
    assert (rows(shared, SubmissionRow), rows(shared, JobRow)) == (1, 1)
    assert shared.events(EventKind.SUBMISSION_STORED) == [EventKind.SUBMISSION_STORED]


def test_one_upload_that_comes_many_times_at_once_is_one(shared):
    results = at_once(THREADS, lambda i: shared.store("client-0", 1, shared.sides[i % 2]))
    assert sorted(is_new for _, is_new in results) == [False] * (THREADS - 1) + [True]


@pytest.mark.parametrize(
    "row",
    [
        lambda run: SubmissionRow(
            run=run,
            round=1,
            kind=UPDATE_KIND,
            client="client-0",
            sha256=digest(2),
            size=1,
            manifest="",
            state=SubmissionState.STORED,
            received_at=NOW,
        ),
        lambda run: JobRow(kind=JobKind.CHECK, run=run, round=1, client="client-0"),
    ],
    ids=["update", "job"],
)
def test_the_database_itself_refuses_a_second_row(shared, row):
    """Even if no store had looked."""
    shared.store("client-0", 1)
    with pytest.raises(IntegrityError):
        shared.database.transact(lambda session: session.add(row(shared.run)))


def test_an_upload_is_before_the_seal_or_refused(shared):
    """Whoever is acknowledged while the round is sealed is in it: in every order of the two."""
    for number in range(1, 5):
        if number > 1:
            shared.decide(shared.opening(number))

        def work(i, number=number):
            side = shared.sides[i % 2]
            if i == 3:
                return shared.decide(sealing(number), side)
            return shared.store(f"client-{i}", i, side, in_round=number)

        results = at_once(THREADS, work)
        acknowledged = [i for i, result in enumerate(results) if isinstance(result, tuple)]
        assert len(acknowledged) + refusals(results, GoneError) == THREADS - 1
        shared.check_all()
        members = shared.stores.rounds.sealed(shared.run, number).members
        assert [member.place.client for member in members] == [f"client-{i}" for i in acknowledged]
    happened = [EventKind.SUBMISSION_STORED, EventKind.ROUND_OPENED, EventKind.ROUND_SEALED]
    for story in " ".join(shared.events(*happened)).split(EventKind.ROUND_OPENED)[1:]:
        assert EventKind.SUBMISSION_STORED not in story.partition(EventKind.ROUND_SEALED)[2]


def test_a_job_is_claimed_once(shared):
    for i, client in enumerate(shared.clients):
        shared.store(client, i)

    def claim(i):
        return shared.sides[i % 2].jobs.claim(NOW, LEASE_SECONDS, 2, Random(i))

    leases = [lease for claimed in at_once(THREADS, claim) for lease in claimed]
    assert len(leases) == len({lease.job for lease in leases}) == THREADS
    assert shared.claim() == []


def test_a_lease_that_ran_out_is_worth_nothing(shared):
    shared.store("client-0", 1)
    (lost,) = shared.claim()
    later = NOW + LEASE_SECONDS
    (owned,) = shared.claim(later, seed=2)
    assert (owned.job, owned.attempt) == (lost.job, 2)
    jobs, updates = shared.stores.jobs, shared.stores.submissions
    jobs.renew([lost], later + 100)
    jobs.give_back(lost)
    jobs.try_again(lost, "no reason", later, 0.0)
    assert not updates.settle(lost, VALID, later)
    assert shared.claim(later + LEASE_SECONDS - 1) == []
    assert updates.settle(owned, VALID, later)
    assert not updates.settle(owned, VALID, later)
    assert shared.events(EventKind.SUBMISSION_CHECKED) == [EventKind.SUBMISSION_CHECKED]


def test_only_the_owner_publishes_and_only_once(shared):
    for client in shared.clients[:2]:
        shared.store(client, 1)
    shared.check_all()
    shared.seal()
    (lost,) = shared.claim()
    (owned,) = shared.claim(NOW + LEASE_SECONDS, seed=2)
    assert shared.stores.rounds.keep_aggregate(lost, aggregate(1)) is None
    leases = [lost, owned, owned, lost]
    published = at_once(
        4, lambda i: shared.sides[i % 2].rounds.keep_aggregate(leases[i], aggregate(i))
    )
    shared.decide(Advance(1, None))
    outcome = shared.stores.reports.outcome(shared.run, 1)
    assert outcome.state is RoundState.PUBLISHED
    assert outcome.aggregate.sha256 in {digest(1), digest(2)}
    assert set(published) <= {None, outcome.aggregate.sha256}
    assert shared.events(EventKind.ROUND_PUBLISHED) == [EventKind.ROUND_PUBLISHED]
    shared.stores.rounds.give_up(owned, "too late", NOW)
    assert shared.stores.reports.outcome(shared.run, 1) == outcome


def test_events_can_be_seen_in_the_order_of_their_numbers(shared):
    """Whoever has seen number n has seen all before it: a reader that asks for what came after
    misses none."""
    each, writers = 8, THREADS - 1
    first = shared.stores.events.newest()
    written = Semaphore(0)  # a reader that does not wait for news would keep writers out for good

    def work(i):
        events = shared.sides[i % 2].events
        if i < writers:
            for done in range(each):
                events.progress(FoldProgress(shared.run, 1, f"writer {i}", done, each), NOW)
                written.release()
            return None
        seen = []
        for _ in range(each * writers):
            assert written.acquire(timeout=PATIENCE_SECONDS), "a writer has failed"
            seen += events.of_all(seen[-1].event.id if seen else first)
        return seen

    *failures, seen = at_once(THREADS, work)
    assert failures == [None] * writers
    numbers = [happening.event.id for happening in seen]
    assert numbers == sorted(set(numbers))
    for i in range(writers):
        own = [h.event.details for h in seen if h.event.details.phase == f"writer {i}"]
        assert [details.done for details in own] == list(range(each))


def test_a_transaction_that_dies_before_its_commit_was_never_there(shared):
    def die(moment: str) -> None:
        if moment == "SubmissionStore.store.uncommitted":
            raise RuntimeError

    with crash_points.watching(die), pytest.raises(RuntimeError):
        shared.store("client-0", 1)
    assert (rows(shared, SubmissionRow), rows(shared, JobRow)) == (0, 0)
    assert shared.events(EventKind.SUBMISSION_STORED) == []
    assert shared.store("client-0", 2)[1]


@pytest.fixture
def on_postgresql(postgresql):
    shared = SharedRun(postgresql.new_database(), 1)
    yield shared
    shared.close()


def test_a_connection_cut_in_the_middle_of_a_transaction_costs_nothing_but_time(
    on_postgresql, postgresql
):
    def cut(moment: str) -> None:
        if moment == "SubmissionStore.store.uncommitted":
            postgresql.cut_all_connections()

    with crash_points.watching(cut), pytest.raises(BusyError, match="does not answer"):
        on_postgresql.store("client-0", 1)
    assert rows(on_postgresql, SubmissionRow) == 0
    assert on_postgresql.store("client-0", 1)[1]


def test_a_server_that_crashes_in_the_middle_of_a_transaction_keeps_what_was_committed(
    on_postgresql, postgresql
):
    on_postgresql.seal()
    on_postgresql.decide(on_postgresql.opening(2))
    on_postgresql.store("client-0", 1, in_round=2)

    def crash(moment: str) -> None:
        if moment == "SubmissionStore.settle.uncommitted":
            postgresql.stop()

    lease = next(lease for lease in on_postgresql.claim() if lease.client)
    with crash_points.watching(crash), pytest.raises(BusyError):
        on_postgresql.stores.submissions.settle(lease, VALID, NOW)
    postgresql.start()
    update = on_postgresql.stores.reports.submission(on_postgresql.place("client-0", 2))
    assert update.state is SubmissionState.STORED
    assert on_postgresql.stores.submissions.settle(lease, VALID, NOW)


def test_a_transaction_that_postgresql_undoes_is_repeated_as_a_whole(on_postgresql):
    """Its first attempt did all of its work, and is not there."""
    undone = text("DO $$BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END$$")
    attempts = 0

    def work(session):
        nonlocal attempts
        attempts += 1
        session.add(JobRow(kind=JobKind.FOLD, run=on_postgresql.run, round=attempts))
        session.flush()
        if attempts < 3:
            session.execute(undone)

    on_postgresql.database.transact(work)
    folds = select(JobRow.round).where(JobRow.kind == JobKind.FOLD)
    found = on_postgresql.database.transact(lambda session: session.scalars(folds).all())
    assert (attempts, found) == (3, [3])
