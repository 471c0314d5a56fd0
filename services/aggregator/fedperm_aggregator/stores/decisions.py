"""Carrying out a decision about a run, inside the transaction in which it was taken."""

from collections.abc import Sequence
from functools import singledispatch

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm.wire.events import (
    PhaseBegun,
    RoundAborted,
    RoundClosed,
    RoundExtended,
    RoundOpened,
    RoundPublished,
    RoundSealed,
    RunCompleted,
    RunFailed,
)
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import (
    Abort,
    Advance,
    BegunPhase,
    Complete,
    Decision,
    Extend,
    Fail,
    Open,
    Wait,
)
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.lookup import the_round
from fedperm_aggregator.tables import JobRow, RoundRow, RunRow, SelectionRow, SubmissionRow


@singledispatch
def carry_out(decision: Decision, session: Session, row: RunRow, now: float) -> None:  # noqa: ARG001
    raise TypeError(type(decision).__name__)


@carry_out.register
def _wait(decision: Wait, _session: Session, row: RunRow, _now: float) -> None:
    row.state, row.reason = decision.state, decision.reason


@carry_out.register
def _open(decision: Open, session: Session, row: RunRow, now: float) -> None:
    begun = decision.phase
    opened = RoundRow(
        run=row.run,
        number=decision.number,
        state=begun.state,
        epoch=decision.epoch,
        opened_at=now,
        deadline_at=begun.deadline_at,
        extensions=0,
    )
    session.add(opened)
    _begin(session, opened, begun)
    row.state, row.reason = RunState.RUNNING, ""
    details = RoundOpened(epoch=decision.epoch, selected=begun.asked, deadline_at=begun.deadline_at)
    record(session, row.run, now, details, number=decision.number)


@carry_out.register
def _extend(decision: Extend, session: Session, row: RunRow, now: float) -> None:
    extended = the_round(session, row.run, decision.number)
    extended.deadline_at, extended.extensions = decision.deadline_at, extended.extensions + 1
    details = RoundExtended(deadline_at=decision.deadline_at, extensions=extended.extensions)
    record(session, row.run, now, details, number=decision.number)


@carry_out.register
def _advance(decision: Advance, session: Session, row: RunRow, now: float) -> None:
    """The round's state follows from the phase: it is published when its last phase is over, at the
    latest."""
    current, begun = the_round(session, row.run, decision.number), decision.phase
    state = RoundState.PUBLISHED if begun is None else begun.state
    if state is RoundState.SEALED and current.state is RoundState.OPEN:
        _seal(session, current, now)
    elif state is RoundState.PUBLISHED and current.state is not RoundState.PUBLISHED:
        _publish(session, current, now)
    elif begun is None:
        record(session, row.run, now, RoundClosed(), number=current.number)
    if begun is None:
        current.phase = current.collects = ""
        return
    _begin(session, current, begun)
    if begun.collects:
        details = PhaseBegun(
            phase=begun.name,
            collects=begun.collects,
            asked=begun.asked,
            deadline_at=begun.deadline_at,
        )
        record(session, row.run, now, details, number=current.number)


@carry_out.register
def _abort(decision: Abort, session: Session, row: RunRow, now: float) -> None:
    abort_round(session, the_round(session, row.run, decision.number), decision.reason, now)


@carry_out.register
def _complete(_decision: Complete, session: Session, row: RunRow, now: float) -> None:
    row.state, row.reason = RunState.COMPLETED, f"all {row.rounds} rounds are done"
    record(session, row.run, now, RunCompleted())


@carry_out.register
def _fail(decision: Fail, session: Session, row: RunRow, now: float) -> None:
    row.state, row.reason = RunState.FAILED, decision.reason
    record(session, row.run, now, RunFailed(reason=decision.reason))


def abort_round(session: Session, row: RoundRow, reason: str, now: float) -> None:
    """What was valid is dropped; what was rejected stays so. An aggregate that was written is
    forgotten: the next sweep removes it."""
    row.state, row.settled_at, row.reason = RoundState.ABORTED, now, reason
    row.phase = row.collects = ""
    row.aggregate_sha256 = row.aggregate_size = row.contributors = None
    dropped = valid_submissions(session, row)
    for submission in dropped:
        submission.state = SubmissionState.DROPPED
    updates = sum(submission.kind == UPDATE_KIND for submission in dropped)
    aborted = RoundAborted(reason=reason, dropped=updates)
    record(session, row.run, now, aborted, number=row.number)


def valid_submissions(session: Session, row: RoundRow) -> Sequence[SubmissionRow]:
    """In the order of the clients' names."""
    rows = select(SubmissionRow).where(
        SubmissionRow.run == row.run,
        SubmissionRow.round == row.number,
        SubmissionRow.state == SubmissionState.VALID,
    )
    return session.scalars(rows.order_by(SubmissionRow.client)).all()


def valid_updates(session: Session, row: RoundRow) -> Sequence[SubmissionRow]:
    return [one for one in valid_submissions(session, row) if one.kind == UPDATE_KIND]


def _begin(session: Session, row: RoundRow, begun: BegunPhase) -> None:
    row.phase, row.collects = begun.name, begun.collects
    if begun.job is not None:
        session.add(JobRow(kind=begun.job, run=row.run, round=row.number))
    if begun.collects:
        row.deadline_at, row.extensions = begun.deadline_at, 0
        for client in begun.asked:
            session.add(
                SelectionRow(run=row.run, round=row.number, kind=begun.collects, client=client)
            )


def _seal(session: Session, row: RoundRow, now: float) -> None:
    row.state, row.sealed_at = RoundState.SEALED, now
    sealed = RoundSealed(
        members=tuple(update.client for update in valid_updates(session, row)),
        seconds=max(0.0, now - row.opened_at),
    )
    record(session, row.run, now, sealed, number=row.number)


def _publish(session: Session, row: RoundRow, now: float) -> None:
    row.state, row.settled_at = RoundState.PUBLISHED, now
    for update in valid_updates(session, row):
        update.state = SubmissionState.INCLUDED
    published = RoundPublished(
        contributors=row.contributors or 0,
        sha256=row.aggregate_sha256 or "",
        size=row.aggregate_size or 0,
        seconds=max(0.0, now - (row.sealed_at or now)),
    )
    record(session, row.run, now, published, number=row.number)
