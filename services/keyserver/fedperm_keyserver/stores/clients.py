"""Clients: enrolled, listed, revoked. Their rows stay."""

from dataclasses import asdict

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.crash_points import specify
from fedperm.database import Database, transaction
from fedperm_keyserver.events import ClientEnrolled, ClientRevoked, EnrolmentRefused
from fedperm_keyserver.records import (
    Admitted,
    Attempt,
    Client,
    Epoch,
    Judge,
    Known,
    Refused,
    Verdict,
)
from fedperm_keyserver.stores.audit import append
from fedperm_keyserver.stores.keys import add_epoch
from fedperm_keyserver.stores.rows import client_row, epoch_row, key_row
from fedperm_keyserver.stores.tokens import revoke_token
from fedperm_keyserver.tables import ClientRow, TokenRow


class ClientStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def enrol(self, session: Session, attempt: Attempt, judge: Judge, now: float) -> Verdict:
        """Looks, decides and records in one: of N uses of a token no more than N are taken."""
        key_row(session, attempt.key, lock=True)
        verdict = judge(attempt, _known(session, attempt), now)
        specify(type(verdict))
        match verdict:
            case Admitted(client):
                _add(session, client)
                enrolled = ClientEnrolled(
                    key=client.key,
                    client=client.name,
                    ordinal=client.ordinal,
                    token=client.token,
                    signing_key=client.signing_key,
                    sealing_key=client.sealing_key,
                )
                append(session, enrolled, now)
            case Refused(why):
                refused = EnrolmentRefused(attempt.key, attempt.token, attempt.signing_key, why)
                append(session, refused, now)
        return verdict

    @transaction
    def find(self, session: Session, key: str, name: str) -> Client | None:
        row = session.get(ClientRow, (key, name))
        return row.record() if row else None

    @transaction
    def get(self, session: Session, key: str, name: str) -> Client:
        key_row(session, key)
        return client_row(session, key, name).record()

    @transaction
    def all(self, session: Session, key: str) -> tuple[Client, ...]:
        key_row(session, key)
        rows = session.scalars(
            select(ClientRow).where(ClientRow.key == key).order_by(ClientRow.ordinal)
        )
        return tuple(row.record() for row in rows)

    @transaction
    def revoke(self, session: Session, client: Client, epoch: Epoch, now: float) -> Epoch | None:
        """The epoch that the revocation made, now or before; None if another epoch came first.

        Whoever knows the client's token could enrol again: it is revoked too.
        """
        key = key_row(session, client.key, lock=True)
        row = client_row(session, client.key, client.name)
        if row.revoked_into is not None:
            return epoch_row(session, client.key, row.revoked_into).record()
        if epoch.number != key.latest_epoch + 1:
            return None
        row.revoked_at, row.revoked_into = now, epoch.number
        append(session, ClientRevoked(client.key, client.name, epoch.number), now)
        why = f"client {client.name} was revoked"
        revoke_token(session, session.get_one(TokenRow, row.token), why, now)
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
    )


def _add(session: Session, client: Client) -> None:
    session.get_one(TokenRow, client.token).used += 1
    session.add(ClientRow(**asdict(client)))
    session.flush()
