"""The audit log: entries are appended within the transaction that they record."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.audit_chain import START, ChainEnd, next_entry
from fedperm.database import Database, transaction
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.events import Event
from fedperm_keyserver.tables import AuditRow

PAGE = 1000


def append(session: Session, event: Event, at: float) -> AuditEntry:
    """Milliseconds: every JSON library writes such a number alike."""
    last = session.scalar(select(AuditRow).order_by(AuditRow.number.desc()).limit(1))
    end = START if last is None else ChainEnd(last.number, last.hash)
    entry = next_entry(end, round(at, 3), event.kind, event.details())
    session.add(AuditRow(**entry.model_dump()))
    session.flush()
    return entry


class AuditStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def entries(self, session: Session, after: int, most: int = PAGE) -> tuple[AuditEntry, ...]:
        rows = session.scalars(
            select(AuditRow).where(AuditRow.number > after).order_by(AuditRow.number).limit(most)
        )
        return tuple(row.entry() for row in rows)
