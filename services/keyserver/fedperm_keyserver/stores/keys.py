"""Signing identities, and keys with their epochs: all of them are only ever added."""

from dataclasses import asdict

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError, UnknownResourceError
from fedperm.ids import EpochNumber, KeyName
from fedperm_keyserver.events import (
    EpochDestroyed,
    IdentityCreated,
    IdentityRetired,
    IdentitySucceeded,
    KeyCreated,
    KeyRotated,
)
from fedperm_keyserver.records import Epoch, Key, StoredIdentity
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.secrets import check_wrapped_alike
from fedperm_keyserver.tables import EpochRow, IdentityRow, KeyRow


def the_key(session: Session, name: KeyName, *, lock: bool = False) -> KeyRow:
    """Writers lock the key's row: on a database that locks rows, one at a time per key."""
    row = session.get(KeyRow, name, with_for_update=lock or None)
    if row is None:
        raise UnknownResourceError(f"there is no key {name}", "the key operator creates keys")
    return row


def the_epoch(session: Session, key: KeyName, number: EpochNumber) -> EpochRow:
    row = session.get(EpochRow, (key, number))
    if row is None:
        latest = the_key(session, key).latest_epoch
        raise UnknownResourceError(
            f"key {key} has no epoch {number}", f"its latest epoch is {latest}"
        )
    return row


def add_epoch(session: Session, key: KeyRow, epoch: Epoch, why: str) -> None:
    """Within a transaction that has seen that it is the next one."""
    check_wrapped_alike(session, epoch.wrapped)
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


class IdentityStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def all(self, session: Session) -> tuple[StoredIdentity, ...]:
        """The newest one last."""
        rows = session.scalars(select(IdentityRow).order_by(IdentityRow.generation))
        return tuple(row.record() for row in rows)

    @transaction
    def keep(self, session: Session, first: StoredIdentity, now: float) -> None:
        """Unless there is one: another process may have been first."""
        if session.get(IdentityRow, first.generation) is None:
            session.add(IdentityRow(**asdict(first)))
            append(session, IdentityCreated(first.fingerprint), now)

    @transaction
    def succeed(self, session: Session, successor: StoredIdentity, now: float) -> None:
        """A new identity for the one before, which stays for those who know it."""
        before = session.get_one(IdentityRow, successor.generation - 1).record()
        check_wrapped_alike(session, successor.wrapped)
        session.add(IdentityRow(**asdict(successor)))
        append(session, IdentitySucceeded(successor.fingerprint, before.fingerprint), now)

    @transaction
    def retire(self, session: Session, generation: int, now: float) -> StoredIdentity:
        """Its private key is overwritten; again: nothing changes."""
        row = session.get(IdentityRow, generation)
        newest = session.scalar(select(func.max(IdentityRow.generation)))
        if row is None:
            raise UnknownResourceError(
                f"there is no identity {generation}", f"the newest is {newest}"
            )
        if generation == newest:
            raise ConflictError(
                f"identity {generation} is the one that signs", "make its successor before"
            )
        if row.wrapped:
            row.wrapped = b""
            append(session, IdentityRetired(row.record().fingerprint), now)
        return row.record()


class KeyStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def find(self, session: Session, name: KeyName) -> Key | None:
        row = session.get(KeyRow, name)
        return row.record() if row else None

    @transaction
    def get(self, session: Session, name: KeyName) -> Key:
        return the_key(session, name).record()

    @transaction
    def all(self, session: Session) -> tuple[Key, ...]:
        return tuple(row.record() for row in session.scalars(select(KeyRow).order_by(KeyRow.name)))

    @transaction
    def epoch(self, session: Session, key: KeyName, number: EpochNumber) -> Epoch:
        return the_epoch(session, key, number).record()

    @transaction
    def create(self, session: Session, key: Key, first: Epoch) -> Key:
        """The key that is kept: another request may have been first."""
        row = session.get(KeyRow, key.name)
        if row is not None:
            return row.record()
        check_wrapped_alike(session, first.wrapped)
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
        key = the_key(session, epoch.key, lock=True)
        if key.latest_epoch >= epoch.number:
            return the_epoch(session, epoch.key, epoch.number).record()
        add_epoch(session, key, epoch, why)
        return epoch

    @transaction
    def destroy(self, session: Session, key: KeyName, number: EpochNumber, now: float) -> Epoch:
        """Its secret half is overwritten; again: nothing changes."""
        latest = the_key(session, key, lock=True).latest_epoch
        row = the_epoch(session, key, number)
        if number == latest:
            raise ConflictError(
                f"epoch {number} is the newest of key {key}", "rotate the key before"
            )
        if row.destroyed_at is None:
            row.wrapped, row.destroyed_at = b"", now
            append(session, EpochDestroyed(key, number, row.key_id), now)
        return row.record()
