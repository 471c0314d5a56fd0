"""Enrolment tokens: minted, listed, revoked."""

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError, UnknownResourceError
from fedperm_keyserver.events import TokenMinted, TokenRevoked
from fedperm_keyserver.records import Token
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.rows import key_row
from fedperm_keyserver.tables import ClientRow, TokenRow


class TokenStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def mint(self, session: Session, token: Token, now: float) -> None:
        key_row(session, token.key, lock=True)
        if token.client is not None:
            _check_name_is_free(session, token.key, token.client, now)
        session.add(TokenRow(**asdict(token)))
        append(session, TokenMinted(token.key, token.id, token.uses, token.client), now)

    @transaction
    def all(self, session: Session, key: str) -> tuple[Token, ...]:
        key_row(session, key)
        return tuple(row.record() for row in _tokens(session, key))

    @transaction
    def revoke(self, session: Session, key: str, identifier: str, now: float) -> Token:
        key_row(session, key, lock=True)
        row = session.get(TokenRow, identifier)
        if row is None or row.key != key:
            raise UnknownResourceError(
                f"key {key} has no enrolment token {identifier}", "list the tokens of the key"
            )
        revoke_token(session, row, "by the key operator", now)
        return row.record()


def revoke_token(session: Session, row: TokenRow, why: str, now: float) -> None:
    """Recorded the first time only."""
    if not row.revoked:
        row.revoked = True
        append(session, TokenRevoked(row.key, row.id, why), now)


def _check_name_is_free(session: Session, key: str, name: str, now: float) -> None:
    if session.get(ClientRow, (key, name)) is not None:
        raise ConflictError(f"key {key} has a client {name}", "choose a name that was never used")
    for row in _tokens(session, key, name):
        if row.record().is_live(now):
            raise ConflictError(
                f"the enrolment token {row.id} is for the name {name}",
                "use it, or revoke it before you mint another",
            )


def _tokens(session: Session, key: str, name: str | None = None) -> list[TokenRow]:
    """Of a key, or of one name of it."""
    query = select(TokenRow).where(TokenRow.key == key).order_by(TokenRow.expires_at, TokenRow.id)
    if name is not None:
        query = query.where(TokenRow.client == name)
    return list(session.scalars(query))
