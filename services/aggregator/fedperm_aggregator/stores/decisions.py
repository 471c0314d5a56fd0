"""Carrying out a decision about a run, inside the transaction in which it was taken."""

from collections.abc import Sequence
from functools import singledispatch

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm.wire.events import (
    RoundAborted,
    RoundExtended,
    RoundOpened,
    RoundSealed,
    RunCompleted,
    RunFailed,
)
from fedperm_aggregator.records import (
    Abort,
    Complete,
    Decision,
    Extend,
    Fail,
    JobKind,
    Open,
    Seal,
    Wait,
)
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.jobs import add_job
from fedperm_aggregator.stores.lookup import the_round
from fedperm_aggregator.tables import RoundRow, RunRow, SelectionRow, UpdateRow


@singledispatch
def carry_out(decision: Decision, session: Session, row: RunRow, now: float) -> None:  # noqa: ARG001
    raise TypeError(type(decision).__name__)


@carry_out.register
def _wait(decision: Wait, _session: Session, row: RunRow, _now: float) -> None:
    row.state, row.reason = decision.state, decision.reason


@carry_out.register
def _open(decision: Open, session: Session, row: RunRow, now: float) -> None:
    session.add(
        RoundRow(
            run=row.run,
            number=decision.number,
            state=RoundState.OPEN,
            epoch=decision.epoch,
            opened_at=now,
            deadline_at=decision.deadline_at,
        )
    )
    for client in decision.selected:
        session.add(SelectionRow(run=row.run, round=decision.number, client=client))
    row.state, row.reason = RunState.RUNNING, ""
    opened = RoundOpened(
        epoch=decision.epoch, selected=decision.selected, deadline_at=decision.deadline_at
    )
    record(session, row.run, now, opened, number=decision.number)


@carry_out.register
def _extend(decision: Extend, session: Session, row: RunRow, now: float) -> None:
    opened = the_round(session, row.run, decision.number)
    opened.deadline_at, opened.extensions = decision.deadline_at, opened.extensions + 1
    extended = RoundExtended(deadline_at=decision.deadline_at, extensions=opened.extensions)
    record(session, row.run, now, extended, number=decision.number)


@carry_out.register
def _seal(decision: Seal, session: Session, row: RunRow, now: float) -> None:
    sealed = the_round(session, row.run, decision.number)
    sealed.state, sealed.sealed_at = RoundState.SEALED, now
    add_job(session, JobKind.FOLD, row.run, decision.number)
    details = RoundSealed(
        members=tuple(u.client for u in valid_updates(session, row.run, decision.number)),
        seconds=max(0.0, now - sealed.opened_at),
    )
    record(session, row.run, now, details, number=decision.number)


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
    """Its valid updates are dropped; what was rejected stays so."""
    row.state, row.settled_at, row.reason = RoundState.ABORTED, now, reason
    dropped = settle_updates(session, row.run, row.number, SubmissionState.DROPPED)
    aborted = RoundAborted(reason=reason, dropped=dropped)
    record(session, row.run, now, aborted, number=row.number)


def settle_updates(session: Session, run: str, number: int, state: SubmissionState) -> int:
    """The fate of all valid updates of a round; how many they are."""
    valid = valid_updates(session, run, number)
    for row in valid:
        row.state = state
    return len(valid)


def valid_updates(session: Session, run: str, number: int) -> Sequence[UpdateRow]:
    """In the order of the clients' names."""
    rows = select(UpdateRow).where(
        UpdateRow.run == run, UpdateRow.round == number, UpdateRow.state == SubmissionState.VALID
    )
    return session.scalars(rows.order_by(UpdateRow.client)).all()
