"""The database as the pure parts see it."""

from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.wire.aggregator import RoundState, UpdateState
from fedperm_aggregator.admission import Slot, StoredUpdate
from fedperm_aggregator.lifecycle import RoundView, RunView
from fedperm_aggregator.stores.runs import newest_epoch, newest_round
from fedperm_aggregator.tables import ParticipantRow, RoundRow, RunRow, SelectionRow, UpdateRow
from fedperm_aggregator.tasks import OpenRound, TaskView


def run_view(session: Session, row: RunRow, is_online: Callable[[str], bool]) -> RunView:
    newest = newest_round(session, row.run)
    may_be_asked = select(ParticipantRow.client).where(
        ParticipantRow.run == row.run, ParticipantRow.excluded.is_(False)
    )
    return RunView(
        state=row.state,
        has_model=row.has_model,
        epoch=newest_epoch(session, row.run),
        online=tuple(filter(is_online, session.scalars(may_be_asked))),
        newest=None if newest is None else _round_view(session, newest),
        aborted_in_a_row=0 if newest is None else _aborted_in_a_row(session, newest),
    )


def task_view(session: Session, row: RunRow, client: str) -> TaskView:
    newest = newest_round(session, row.run)
    if newest is None:
        return TaskView(row.state, 0, None)
    return TaskView(
        run_state=row.state,
        settled=newest.number if newest.state.is_settled else newest.number - 1,
        open=_open_round(session, newest, client) if newest.state is RoundState.OPEN else None,
    )


def slot_of(session: Session, run: str, number: int, client: str) -> Slot:
    row = session.get(RoundRow, (run, number))
    joined = session.get(ParticipantRow, (run, client))
    stored = session.get(UpdateRow, (run, number, client))
    return Slot(
        state=None if row is None else row.state,
        epoch=0 if row is None else row.epoch,
        is_selected=session.get(SelectionRow, (run, number, client)) is not None,
        signing_key=None if joined is None else joined.signing_key,
        stored=None
        if stored is None
        else StoredUpdate(stored.sha256, stored.state, stored.received_at),
    )


def _round_view(session: Session, row: RoundRow) -> RoundView:
    selected = select(func.count()).where(
        SelectionRow.run == row.run, SelectionRow.round == row.number
    )
    updates = (
        select(UpdateRow.state, func.count())
        .where(UpdateRow.run == row.run, UpdateRow.round == row.number)
        .group_by(UpdateRow.state)
    )
    counts: dict[UpdateState, int] = dict(session.execute(updates).all())
    return RoundView(
        number=row.number,
        state=row.state,
        deadline_at=row.deadline_at,
        extensions=row.extensions,
        selected=session.scalar(selected) or 0,
        stored=counts.get(UpdateState.STORED, 0),
        valid=counts.get(UpdateState.VALID, 0),
        rejected=counts.get(UpdateState.REJECTED, 0),
    )


def _aborted_in_a_row(session: Session, newest: RoundRow) -> int:
    if newest.state is not RoundState.ABORTED:
        return 0
    others = select(func.max(RoundRow.number)).where(
        RoundRow.run == newest.run, RoundRow.state != RoundState.ABORTED
    )
    return newest.number - (session.scalar(others) or 0)


def _open_round(session: Session, row: RoundRow, client: str) -> OpenRound:
    key = (row.run, row.number, client)
    return OpenRound(
        number=row.number,
        epoch=row.epoch,
        deadline_at=row.deadline_at,
        is_asked=session.get(SelectionRow, key) is not None,
        has_sent=session.get(UpdateRow, key) is not None,
    )
