"""Keys and their epochs. Epochs are only added."""

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm_keyserver.events import KeyCreated, KeyRotated
from fedperm_keyserver.records import Epoch, Key
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.rows import epoch_row, key_row
from fedperm_keyserver.tables import EpochRow, KeyRow


class KeyStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def find(self, session: Session, name: str) -> Key | None:
        row = session.get(KeyRow, name)
        return row.record() if row else None

    @transaction
    def get(self, session: Session, name: str) -> Key:
        return key_row(session, name).record()

    @transaction
    def all(self, session: Session) -> tuple[Key, ...]:
        return tuple(row.record() for row in session.scalars(select(KeyRow).order_by(KeyRow.name)))

    @transaction
    def epoch(self, session: Session, key: str, number: int) -> Epoch:
        return epoch_row(session, key, number).record()

    @transaction
    def create(self, session: Session, key: Key, first: Epoch) -> Key:
        """The key that is kept: another request may have been first."""
        row = session.get(KeyRow, key.name)
        if row is not None:
            return row.record()
        session.add(KeyRow(**asdict(key)))
        session.flush()
        session.add(_epoch_row(first))
        created = KeyCreated(
            key.name, key.scheme, key.parameters, key.keys, first.number, first.key_id
        )
        append(session, created, first.created_at)
        return key

    @transaction
    def rotate(self, session: Session, epoch: Epoch, why: str) -> Epoch:
        """The epoch of this number that is kept: another request may have been first."""
        key = key_row(session, epoch.key, lock=True)
        if key.latest_epoch >= epoch.number:
            return epoch_row(session, epoch.key, epoch.number).record()
        add_epoch(session, key, epoch, why)
        return epoch


def add_epoch(session: Session, key: KeyRow, epoch: Epoch, why: str) -> None:
    """Within a transaction that has seen that it is the next one."""
    session.add(_epoch_row(epoch))
    key.latest_epoch, key.key_id = epoch.number, epoch.key_id
    rotated = KeyRotated(epoch.key, epoch.number, epoch.key_id, why)
    append(session, rotated, epoch.created_at)


def _epoch_row(epoch: Epoch) -> EpochRow:
    return EpochRow(
        key=epoch.key,
        number=epoch.number,
        key_id=epoch.key_id,
        signed_record=epoch.record,
        wrapped=epoch.wrapped,
        created_at=epoch.created_at,
    )
