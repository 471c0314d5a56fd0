"""Clients: the tokens they enrol with, their rows, which stay for ever, and what they are given."""

from dataclasses import asdict

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from fedperm.crash_points import specify
from fedperm.database import Database, transaction
from fedperm.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    UnauthenticatedError,
    UnknownResourceError,
)
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.events import (
    ClientEnrolled,
    ClientRevoked,
    EnrolmentRefused,
    KeyReleased,
    TokenMinted,
    TokenRevoked,
)
from fedperm_keyserver.records import (
    Admitted,
    Attempt,
    Client,
    Epoch,
    Judge,
    Key,
    Known,
    Refused,
    Token,
    Verdict,
)
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.keys import add_epoch, the_epoch, the_key
from fedperm_keyserver.tables import ClientRow, TokenRow, UsedAssertionRow


def the_client(session: Session, key: KeyName, name: ClientName) -> ClientRow:
    row = session.get(ClientRow, (key, name))
    if row is None:
        raise UnknownResourceError(
            f"key {key} has no client {name}", "the key operator lists its clients"
        )
    return row


class TokenStore:
    """Enrolment tokens: minted, listed, revoked."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def mint(self, session: Session, token: Token, now: float) -> None:
        """A name is for one client, ever, and for one live token at a time."""
        the_key(session, token.key, lock=True)
        if token.client is not None:
            _check_name_is_free(session, token.key, token.client, now)
        session.add(TokenRow(**asdict(token)))
        append(session, TokenMinted(token.key, token.id, token.uses, token.client), now)

    @transaction
    def all(self, session: Session, key: KeyName) -> tuple[Token, ...]:
        the_key(session, key)
        rows = session.scalars(
            select(TokenRow).where(TokenRow.key == key).order_by(TokenRow.expires_at, TokenRow.id)
        )
        return tuple(row.record() for row in rows)

    @transaction
    def revoke(self, session: Session, key: KeyName, identifier: str, now: float) -> Token:
        the_key(session, key, lock=True)
        row = session.get(TokenRow, identifier)
        if row is None or row.key != key:
            raise UnknownResourceError(
                f"key {key} has no enrolment token {identifier}", "list the tokens of the key"
            )
        _revoke_token(session, row, "by the key operator", now)
        return row.record()


def _check_name_is_free(session: Session, key: KeyName, name: ClientName, now: float) -> None:
    if session.get(ClientRow, (key, name)) is not None:
        raise ConflictError(f"key {key} has a client {name}", "choose a name that was never used")
    rows = session.scalars(
        select(TokenRow)
        .where(TokenRow.key == key, TokenRow.client == name)
        .order_by(TokenRow.expires_at, TokenRow.id)
    )
    for row in rows:
        if row.record().is_live(now):
            raise ConflictError(
                f"the enrolment token {row.id} is for the name {name}",
                "use it, or revoke it before you mint another",
            )


def _revoke_token(session: Session, row: TokenRow, why: str, now: float) -> None:
    """Recorded the first time only."""
    if not row.revoked:
        row.revoked = True
        append(session, TokenRevoked(row.key, row.id, why), now)


class ClientStore:
    """Enrolled clients: admitted, listed, revoked."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def enrol(self, session: Session, attempt: Attempt, judge: Judge, now: float) -> Verdict:
        """Looks, decides and records in one: of N uses of a token no more than N are taken."""
        the_key(session, attempt.key, lock=True)
        verdict = judge(attempt, _known(session, attempt), now)
        specify(type(verdict))
        match verdict:
            case Admitted(client):
                session.get_one(TokenRow, client.token).used += 1
                session.add(ClientRow(**asdict(client)))
                session.flush()
                enrolled = ClientEnrolled(
                    key=client.key,
                    client=client.name,
                    ordinal=client.ordinal,
                    token=client.token,
                    signing_key=client.signing_key,
                    sealing_key=client.sealing_key,
                    first_epoch=client.first_epoch,
                )
                append(session, enrolled, now)
            case Refused(why):
                refused = EnrolmentRefused(attempt.key, attempt.token, attempt.signing_key, why)
                append(session, refused, now)
        return verdict

    @transaction
    def find(self, session: Session, key: KeyName, name: ClientName) -> Client | None:
        row = session.get(ClientRow, (key, name))
        return row.record() if row else None

    @transaction
    def get(self, session: Session, key: KeyName, name: ClientName) -> Client:
        the_key(session, key)
        return the_client(session, key, name).record()

    @transaction
    def all(self, session: Session, key: KeyName) -> tuple[Client, ...]:
        the_key(session, key)
        rows = session.scalars(
            select(ClientRow).where(ClientRow.key == key).order_by(ClientRow.ordinal)
        )
        return tuple(row.record() for row in rows)

    @transaction
    def revoke(self, session: Session, client: Client, epoch: Epoch, now: float) -> Epoch | None:
        """The epoch that the revocation made, now or before; None if another epoch came first.

        Whoever knows the client's token could enrol again: it is revoked too.
        """
        key = the_key(session, client.key, lock=True)
        row = the_client(session, client.key, client.name)
        if row.revoked_into is not None:
            return the_epoch(session, client.key, row.revoked_into).record()
        if epoch.number != key.latest_epoch + 1:
            return None
        row.revoked_at, row.revoked_into = now, epoch.number
        append(session, ClientRevoked(client.key, client.name, epoch.number), now)
        why = f"client {client.name} was revoked"
        _revoke_token(session, session.get_one(TokenRow, row.token), why, now)
        add_epoch(session, key, epoch, why)
        return epoch


def _known(session: Session, attempt: Attempt) -> Known:
    token = session.get(TokenRow, attempt.token)
    if token is not None and token.key != attempt.key:
        token = None
    of_this_key = select(ClientRow).where(ClientRow.key == attempt.key)
    holder = session.scalar(of_this_key.where(ClientRow.signing_key == attempt.signing_key))
    name = token and token.client
    return Known(
        token=token.record() if token else None,
        holder=holder.record() if holder else None,
        name_is_taken=bool(name) and session.get(ClientRow, (attempt.key, name)) is not None,
        clients=session.scalar(select(func.count()).select_from(of_this_key.subquery())) or 0,
        latest_epoch=the_key(session, attempt.key).latest_epoch,
    )


class AccessStore:
    """What clients are given: access tokens for assertions that are used once, and secret keys.
    Each method that gives looks again whether the client was revoked meanwhile, and the epoch
    destroyed."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def use_assertion(
        self, session: Session, client: Client, jti: str, forget_after: float, now: float
    ) -> None:
        _check_not_revoked(session, client)
        session.execute(delete(UsedAssertionRow).where(UsedAssertionRow.forget_after < now))
        if session.get(UsedAssertionRow, (client.key, client.name, jti)) is not None:
            raise UnauthenticatedError(
                "this assertion was used before", "sign a new one, with a jti of its own"
            )
        session.add(
            UsedAssertionRow(key=client.key, client=client.name, jti=jti, forget_after=forget_after)
        )

    @transaction
    def admitted(self, session: Session, key: KeyName, client: ClientName) -> tuple[Key, Client]:
        """The key as it is now, and the client, if it was not revoked."""
        of_key, found = the_key(session, key).record(), the_client(session, key, client).record()
        _check_not_revoked(session, found)
        return of_key, found

    @transaction
    def releasable(
        self, session: Session, key: KeyName, client: ClientName, number: EpochNumber
    ) -> tuple[Key, Client, Epoch]:
        """What a release is made of."""
        return (
            the_key(session, key).record(),
            the_client(session, key, client).record(),
            _not_destroyed(session, key, number),
        )

    @transaction
    def record_release(
        self, session: Session, client: Client, epoch: Epoch, release_sha256: str, now: float
    ) -> AuditEntry:
        """Once this returned, the release may leave."""
        _check_not_revoked(session, client)
        _not_destroyed(session, epoch.key, epoch.number)
        released = KeyReleased(epoch.key, epoch.number, epoch.key_id, client.name, release_sha256)
        return append(session, released, now)


def _not_destroyed(session: Session, key: KeyName, number: EpochNumber) -> Epoch:
    epoch = the_epoch(session, key, number).record()
    if epoch.destroyed_at is not None:
        raise GoneError(
            f"epoch {number} of key {key} was destroyed", "nobody is given its secret key again"
        )
    return epoch


def _check_not_revoked(session: Session, client: Client) -> None:
    if the_client(session, client.key, client.name).revoked_at is not None:
        raise ForbiddenError(
            f"client {client.name} was revoked", "ask the key operator to enrol it anew"
        )
