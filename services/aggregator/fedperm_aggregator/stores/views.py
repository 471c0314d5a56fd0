"""The database as the pure parts see it."""

from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.ids import NO_EPOCH, NO_ROUND, ClientName, RoundNumber
from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import (
    Progress,
    RoundView,
    RunView,
    Slot,
    StoredSubmission,
    SubmissionPlace,
)
from fedperm_aggregator.stores.runs import newest_epoch, newest_round
from fedperm_aggregator.tables import ParticipantRow, RoundRow, RunRow, SelectionRow, SubmissionRow


def run_view(session: Session, row: RunRow, is_online: Callable[[ClientName], bool]) -> RunView:
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
        return Progress(row.state, NO_ROUND)
    settled = RoundNumber(newest.number if newest.state.is_settled else newest.number - 1)
    if not newest.collects:
        return Progress(row.state, settled)
    return Progress(
        run_state=row.state,
        settled=settled,
        number=newest.number,
        phase=newest.phase,
        epoch=newest.epoch,
        deadline_at=newest.deadline_at,
        asked=_clients(session, SelectionRow, newest),
        sent=_clients(session, SubmissionRow, newest),
    )


def slot_of(session: Session, place: SubmissionPlace) -> Slot:
    key = (place.run, place.round, place.kind, place.client)
    row = session.get(RoundRow, (place.run, place.round))
    joined = session.get(ParticipantRow, (place.run, place.client))
    stored = session.get(SubmissionRow, key)
    return Slot(
        state=None if row is None else row.state,
        epoch=NO_EPOCH if row is None else row.epoch,
        collects="" if row is None else row.collects,
        is_closed=row is not None and not row.phase,
        is_asked=session.get(SelectionRow, key) is not None,
        signing_key=None if joined is None else joined.signing_key,
        stored=None
        if stored is None
        else StoredSubmission(stored.sha256, stored.state, stored.received_at),
    )


def _round_view(session: Session, row: RoundRow) -> RoundView:
    asked = select(func.count()).where(
        SelectionRow.run == row.run,
        SelectionRow.round == row.number,
        SelectionRow.kind == row.collects,
    )
    collected = (
        select(SubmissionRow.state, func.count())
        .where(
            SubmissionRow.run == row.run,
            SubmissionRow.round == row.number,
            SubmissionRow.kind == row.collects,
        )
        .group_by(SubmissionRow.state)
    )
    members = select(SubmissionRow.client).where(
        SubmissionRow.run == row.run,
        SubmissionRow.round == row.number,
        SubmissionRow.kind == UPDATE_KIND,
        SubmissionRow.state.in_([SubmissionState.VALID, SubmissionState.INCLUDED]),
    )
    counts: dict[SubmissionState, int] = dict(session.execute(collected).all())
    return RoundView(
        number=row.number,
        state=row.state,
        phase=row.phase,
        deadline_at=row.deadline_at,
        extensions=row.extensions,
        asked=session.scalar(asked) or 0,
        stored=counts.get(SubmissionState.STORED, 0),
        valid=counts.get(SubmissionState.VALID, 0),
        # one that nobody could check is dropped: it is not waited for either
        rejected=counts.get(SubmissionState.REJECTED, 0) + counts.get(SubmissionState.DROPPED, 0),
        members=tuple(session.scalars(members.order_by(SubmissionRow.client))),
        has_aggregate=row.aggregate_sha256 is not None,
    )


def _aborted_in_a_row(session: Session, newest: RoundRow) -> int:
    if newest.state is not RoundState.ABORTED:
        return 0
    others = select(func.max(RoundRow.number)).where(
        RoundRow.run == newest.run, RoundRow.state != RoundState.ABORTED
    )
    return newest.number - (session.scalar(others) or 0)


def _clients(
    session: Session, table: type[SelectionRow] | type[SubmissionRow], row: RoundRow
) -> frozenset[ClientName]:
    """Who is asked for what the phase collects, or has sent it."""
    named = select(table.client).where(
        table.run == row.run, table.round == row.number, table.kind == row.collects
    )
    return frozenset(session.scalars(named))
