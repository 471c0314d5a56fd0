"""What clients are given: access tokens for assertions that are used once, and secret keys."""

from sqlalchemy import delete
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ForbiddenError, UnauthenticatedError
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.events import KeyReleased
from fedperm_keyserver.records import Client, Epoch
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.rows import client_row
from fedperm_keyserver.tables import UsedAssertionRow


class AccessStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def use_assertion(
        self, session: Session, client: Client, jti: str, forget_after: float, now: float
    ) -> None:
        """Once, and not by a client that was revoked meanwhile."""
        _check_not_revoked(session, client)
        session.execute(delete(UsedAssertionRow).where(UsedAssertionRow.forget_after < now))
        used = UsedAssertionRow(
            key=client.key, client=client.name, jti=jti, forget_after=forget_after
        )
        if session.get(UsedAssertionRow, (used.key, used.client, used.jti)) is not None:
            raise UnauthenticatedError(
                "this assertion was used before", "sign a new one, with a jti of its own"
            )
        session.add(used)

    @transaction
    def record_release(
        self, session: Session, client: Client, epoch: Epoch, release_sha256: str, now: float
    ) -> AuditEntry:
        """Once this returned, the release may leave; not to a client revoked meanwhile."""
        _check_not_revoked(session, client)
        released = KeyReleased(epoch.key, epoch.number, epoch.key_id, client.name, release_sha256)
        return append(session, released, now)


def _check_not_revoked(session: Session, client: Client) -> None:
    if client_row(session, client.key, client.name).revoked_at is not None:
        raise ForbiddenError(
            f"client {client.name} was revoked", "ask the key operator to enrol it anew"
        )
