"""All that is wrapped by the key-encryption key, whichever table it is in."""

from collections import Counter
from collections.abc import Callable, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm_keyserver.events import SecretsRewrapped
from fedperm_keyserver.records import Rewrap
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.guard import changed_while_running
from fedperm_keyserver.tables import SecretRow
from fedperm_secret.at_rest import wrapped_by

Renew = Callable[[Session], None]


class SecretStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def rewrap(
        self, session: Session, rewrap: Rewrap, renew: Renew, identifier: str, now: float
    ) -> int:
        """All of them or none, in one transaction: there is no moment at which the database needs
        two keys. How many were under another one; if there were any, it is recorded, and rows are
        marked by a new key."""
        changed = 0
        for row in _holders(session):
            before, row.wrapped = row.wrapped, rewrap(row.record())
            changed += row.wrapped != before
        if changed:
            append(session, SecretsRewrapped(identifier, changed), now)
            renew(session)
        return changed

    @transaction
    def wrappers(self, session: Session) -> dict[str, int]:
        """How many secrets are under which key; those of older versions do not say it."""
        return dict(Counter(wrapped_by(row.wrapped) for row in _holders(session)))

    def erase_leftovers(self) -> None:
        """What was replaced is not to be read from the database's files any more."""
        self.database.erase_leftovers([table.__tablename__ for table in SecretRow.__subclasses__()])


def check_wrapped_alike(session: Session, wrapped: bytes) -> None:
    """A process that still has the old key-encryption key would add what the new one does not
    open."""
    first = next(_holders(session), None)
    known = wrapped_by(first.wrapped) if first else ""
    if known and known != wrapped_by(wrapped):
        raise changed_while_running()


def _holders(session: Session) -> Iterator[SecretRow]:
    """Identities first. What was destroyed is empty."""
    for table in SecretRow.__subclasses__():
        yield from (row for row in session.scalars(select(table)) if row.wrapped)
