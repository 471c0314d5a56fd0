"""What happened, in order: written in the transaction that makes it true."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.ids import NO_CLIENT, NO_ROUND, ClientName, RoundNumber, RunName
from fedperm.wire.events import Details, Event, FoldAdvanced, details_of
from fedperm_aggregator.records import FoldProgress, RunEvent
from fedperm_aggregator.tables import EventRow

MOST_AT_ONCE = 500


def record(
    session: Session,
    run: RunName,
    at: float,
    details: Details,
    *,
    number: RoundNumber = NO_ROUND,
    client: ClientName = NO_CLIENT,
) -> None:
    session.add(
        EventRow(
            run=run,
            at=at,
            event=details.event,
            round=number,
            client=client,
            details=details.model_dump(mode="json"),
        )
    )


class EventStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def progress(self, session: Session, mark: FoldProgress, at: float) -> None:
        """An event beside no other change."""
        details = FoldAdvanced(phase=mark.phase, done=mark.done, total=mark.total)
        record(session, mark.run, at, details, number=mark.round)

    @transaction
    def newest(self, session: Session) -> int:
        return session.scalar(select(func.max(EventRow.id))) or 0

    @transaction
    def of_run(self, session: Session, run: RunName, after: int) -> Sequence[Event]:
        wanted = select(EventRow).where(EventRow.run == run, EventRow.id > after)
        rows = session.scalars(wanted.order_by(EventRow.id).limit(MOST_AT_ONCE))
        return [_message(row) for row in rows]

    @transaction
    def of_all(self, session: Session, after: int) -> Sequence[RunEvent]:
        wanted = select(EventRow).where(EventRow.id > after)
        rows = session.scalars(wanted.order_by(EventRow.id).limit(MOST_AT_ONCE))
        return [RunEvent(row.run, _message(row)) for row in rows]


def _message(row: EventRow) -> Event:
    return Event(
        id=row.id,
        at=row.at,
        event=row.event,
        round=row.round,
        client=row.client,
        details=details_of(row.event, row.details),
    )
