"""Tokens, clients and revocations for people."""

from rich.table import Table

from fedperm.ids import KeyName
from fedperm.wire.key_server import ClientList, TokenList, TokenStatus
from fedperm_cli.client.revocation import Revoked
from fedperm_cli.client.tokens import IssuedToken
from fedperm_cli.keys.pages import still_to_do
from fedperm_cli.measures import UNKNOWN, as_time, counted
from fedperm_cli.pages import facts, heading, listing, show


def print_token(issued: IssuedToken, key: KeyName) -> None:
    status = issued.status
    show(
        facts(
            ("token", issued.token or f"in {issued.file}"),
            ("enrols", status.client or counted(status.uses, "client")),
            ("with key", key),
            ("until", as_time(status.expires_at)),
            ("identifier", status.id),
        )
    )


def print_clients(clients: ClientList, tokens: TokenList, now: float) -> None:
    show(_clients(clients) if clients.clients else "no clients yet")
    show(heading("Enrolment tokens"))
    show(_tokens(tokens, now) if tokens.tokens else "none: fedperm client token KEY")


def print_revocation(revoked: Revoked) -> None:
    show(
        f"client {revoked.client} is revoked; key {revoked.key} has epoch {revoked.epoch}, "
        f"fingerprint {revoked.key_id}"
    )
    for run in revoked.runs:
        gone = "is excluded from" if run.run in revoked.excluded else "had not joined"
        show(f"it {gone} run {run.run}, which uses epoch {run.epoch} from its next round on")
    if not revoked.runs:
        show(still_to_do(revoked.key))
        show(f"  fedperm run exclude RUN {revoked.client}")


def _clients(found: ClientList) -> Table:
    table = listing("client", "number", "enrolled", "revoked", right=("number",))
    for client in found.clients:
        revoked = UNKNOWN if client.revoked_at is None else as_time(client.revoked_at)
        table.add_row(client.client, str(client.ordinal), as_time(client.enrolled_at), revoked)
    return table


def _tokens(found: TokenList, now: float) -> Table:
    table = listing("identifier", "used", "for", "until", "state", right=("used",))
    for token in found.tokens:
        table.add_row(
            token.id,
            f"{token.used} of {token.uses}",
            token.client or UNKNOWN,
            as_time(token.expires_at),
            _state(token, now),
        )
    return table


def _state(token: TokenStatus, now: float) -> str:
    if token.revoked:
        return "revoked"
    if token.used >= token.uses:
        return "used up"
    return "expired" if token.expires_at <= now else "open"
