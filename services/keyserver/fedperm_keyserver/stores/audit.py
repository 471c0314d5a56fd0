"""The audit log: entries are appended within the transaction that they record."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.audit_chain import START, ChainEnd, next_entry
from fedperm.database import Database, transaction
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.events import Event, TamperingFound
from fedperm_keyserver.origin import present_origin
from fedperm_keyserver.tables import AuditRow

PAGE = 1000


def append(session: Session, event: Event, at: float) -> AuditEntry:
    """Milliseconds: every JSON library writes such a number alike."""
    last = session.scalar(select(AuditRow).order_by(AuditRow.number.desc()).limit(1))
    end = START if last is None else ChainEnd(last.number, last.hash)
    origin = present_origin()
    entry = next_entry(
        end,
        round(at, 3),
        event.kind,
        event.details(),
        actor=origin.actor,
        address=origin.address,
    )
    session.add(AuditRow(**entry.model_dump()))
    session.flush()
    return entry


class AuditStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def entries(self, session: Session, after: int, most: int = PAGE) -> tuple[AuditEntry, ...]:
        """As they are found, whether they hold or not: whoever reads them verifies them."""
        columns = [getattr(AuditRow, name) for name in AuditEntry.model_fields]
        rows = session.execute(
            select(*columns).where(AuditRow.number > after).order_by(AuditRow.number).limit(most)
        )
        return tuple(AuditEntry(**row._mapping) for row in rows)

    @transaction
    def find(self, session: Session, holds: int) -> AuditEntry | None:
        """The entry that a client holds the head of."""
        row = session.get(AuditRow, holds)
        return row.entry() if row else None

    @transaction
    def check(self, session: Session) -> None:
        """Raises if the database does not answer, or the log does not hold."""
        session.scalar(select(AuditRow).order_by(AuditRow.number.desc()).limit(1))

    @transaction
    def record_tampering(self, session: Session, found: TamperingFound, now: float) -> None:
        append(session, found, now)
