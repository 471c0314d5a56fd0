"""The database as the pure parts see it."""

from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm_aggregator.records import Progress, RoundView, RunView, Slot, StoredUpdate
from fedperm_aggregator.stores.runs import newest_epoch, newest_round
from fedperm_aggregator.tables import ParticipantRow, RoundRow, RunRow, SelectionRow, UpdateRow


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


def progress_of(session: Session, row: RunRow) -> Progress:
    newest = newest_round(session, row.run)
    if newest is None:
        return Progress(row.state, 0)
    if newest.state is not RoundState.OPEN:
        return Progress(row.state, newest.number if newest.state.is_settled else newest.number - 1)
    return Progress(
        run_state=row.state,
        settled=newest.number - 1,
        number=newest.number,
        epoch=newest.epoch,
        deadline_at=newest.deadline_at,
        asked=_clients(session, SelectionRow, newest),
        sent=_clients(session, UpdateRow, newest),
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
    counts: dict[SubmissionState, int] = dict(session.execute(updates).all())
    return RoundView(
        number=row.number,
        state=row.state,
        deadline_at=row.deadline_at,
        extensions=row.extensions,
        selected=session.scalar(selected) or 0,
        stored=counts.get(SubmissionState.STORED, 0),
        valid=counts.get(SubmissionState.VALID, 0),
        # an open round drops an update that nobody could check: it is not waited for either
        rejected=counts.get(SubmissionState.REJECTED, 0) + counts.get(SubmissionState.DROPPED, 0),
    )


def _aborted_in_a_row(session: Session, newest: RoundRow) -> int:
    if newest.state is not RoundState.ABORTED:
        return 0
    others = select(func.max(RoundRow.number)).where(
        RoundRow.run == newest.run, RoundRow.state != RoundState.ABORTED
    )
    return newest.number - (session.scalar(others) or 0)


def _clients(
    session: Session, table: type[SelectionRow] | type[UpdateRow], row: RoundRow
) -> frozenset[str]:
    named = select(table.client).where(table.run == row.run, table.round == row.number)
    return frozenset(session.scalars(named))
