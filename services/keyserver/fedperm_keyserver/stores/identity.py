"""The signing identity: kept once, for ever."""

from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.wire.public_keys import fingerprint
from fedperm_keyserver.events import IdentityCreated
from fedperm_keyserver.records import StoredIdentity
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.tables import IdentityRow

_ONLY = 1


class IdentityStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def find(self, session: Session) -> StoredIdentity | None:
        row = session.get(IdentityRow, _ONLY)
        return row.record() if row else None

    @transaction
    def keep(self, session: Session, identity: StoredIdentity, now: float) -> StoredIdentity:
        """The one that is kept: another process may have been first."""
        row = session.get(IdentityRow, _ONLY)
        if row is not None:
            return row.record()
        session.add(
            IdentityRow(id=_ONLY, signing_key=identity.signing_key, wrapped=identity.wrapped)
        )
        append(session, IdentityCreated(fingerprint(identity.signing_key)), now)
        return identity

    @transaction
    def check(self, session: Session) -> None:
        """Raises if the database does not answer."""
        session.execute(select(literal(1)))
