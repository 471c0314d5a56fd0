"""What happened, in order: written in the transaction that makes it true."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.wire.aggregator import Event, EventKind
from fedperm_aggregator.records import FoldProgress
from fedperm_aggregator.tables import EventRow

MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Happening:
    """An event and the run it belongs to."""

    run: str
    event: Event


def record(
    session: Session,
    run: str,
    at: float,
    kind: EventKind,
    /,
    *,
    number: int = 0,
    client: str = "",
    **details: Any,
) -> None:
    """`details` are what the protocol lists for the kind; never a secret or a ciphertext."""
    row = EventRow(run=run, at=at, event=kind, round=number, client=client, details=details)
    session.add(row)


class EventStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def progress(self, session: Session, mark: FoldProgress, at: float) -> None:
        """An event beside no other change."""
        record(
            session,
            mark.run,
            at,
            EventKind.FOLD_PROGRESS,
            number=mark.round,
            phase=mark.phase,
            done=mark.done,
            total=mark.total,
        )

    @transaction
    def newest(self, session: Session) -> int:
        return session.scalar(select(func.max(EventRow.id))) or 0

    @transaction
    def of_run(self, session: Session, run: str, after: int) -> Sequence[Event]:
        wanted = select(EventRow).where(EventRow.run == run, EventRow.id > after)
        rows = session.scalars(wanted.order_by(EventRow.id).limit(MOST_AT_ONCE))
        return [_message(row) for row in rows]

    @transaction
    def of_all(self, session: Session, after: int) -> Sequence[Happening]:
        wanted = select(EventRow).where(EventRow.id > after)
        rows = session.scalars(wanted.order_by(EventRow.id).limit(MOST_AT_ONCE))
        return [Happening(row.run, _message(row)) for row in rows]


def _message(row: EventRow) -> Event:
    return Event(
        id=row.id,
        at=row.at,
        event=row.event,
        round=row.round,
        client=row.client,
        details=row.details,
    )
