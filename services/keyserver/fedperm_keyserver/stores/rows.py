"""Rows by their names, or the error that says there is none."""

from sqlalchemy.orm import Session

from fedperm.errors import UnknownResourceError
from fedperm_keyserver.tables import ClientRow, EpochRow, KeyRow


def key_row(session: Session, name: str, *, lock: bool = False) -> KeyRow:
    """Writers lock the key's row: on a database that locks rows, one at a time per key."""
    row = session.get(KeyRow, name, with_for_update=lock or None)
    if row is None:
        raise UnknownResourceError(f"there is no key {name}", "the key operator creates keys")
    return row


def epoch_row(session: Session, key: str, number: int) -> EpochRow:
    row = session.get(EpochRow, (key, number))
    if row is None:
        latest = key_row(session, key).latest_epoch
        raise UnknownResourceError(
            f"key {key} has no epoch {number}", f"its latest epoch is {latest}"
        )
    return row


def client_row(session: Session, key: str, name: str) -> ClientRow:
    row = session.get(ClientRow, (key, name))
    if row is None:
        raise UnknownResourceError(
            f"key {key} has no client {name}", "the key operator lists its clients"
        )
    return row
