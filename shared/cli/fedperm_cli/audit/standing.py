"""What the key server's database says of tokens and clients, held against its audit log."""

from dataclasses import dataclass

from fedperm.audit_register import Register, TokenStanding
from fedperm.errors import BusyError, RefusedError, UntrustedError
from fedperm.ids import ClientName, KeyName
from fedperm_cli.audit.log import VerifiedLog, read_log
from fedperm_cli.servers.sessions import KeyOperator

_MOST_ATTEMPTS = 5
_TAMPERED = "tampered"


@dataclass(frozen=True)
class _Listed:
    """Of clients: ordinal, signing key, and whether it was revoked."""

    tokens: dict[str, TokenStanding]
    clients: dict[tuple[KeyName, ClientName], tuple[int, str, bool]]


async def read_and_compare(operator: KeyOperator) -> VerifiedLog:
    """Again if something was recorded meanwhile: then the two are of different moments."""
    for _ in range(_MOST_ATTEMPTS):
        log = await read_log(operator)
        listed = await _listed(operator)
        if not (await operator.api.audit(operator.token, after=log.end.number)).entries:
            _check(listed, log.register)
            return log
    raise BusyError(
        "the audit log grew each time that it was read", "try again when less is going on"
    )


async def _listed(operator: KeyOperator) -> _Listed:
    listed = _Listed({}, {})
    try:
        for key in (await operator.api.keys(operator.token)).keys:
            await _add(listed, operator, key.key)
    except RefusedError as refusal:
        if refusal.kind != _TAMPERED:
            raise
        (await read_log(operator)).check_findings(known=0)  # says which rows, if the log holds
        raise UntrustedError(refusal.message, refusal.hint) from None
    return listed


async def _add(listed: _Listed, operator: KeyOperator, key: KeyName) -> None:
    for token in (await operator.api.tokens(key, operator.token)).tokens:
        listed.tokens[token.id] = TokenStanding(
            key, token.uses, token.client, token.used, token.revoked
        )
    for client in (await operator.api.clients(key, operator.token)).clients:
        is_revoked = client.revoked_at is not None
        listed.clients[key, client.client] = client.ordinal, client.signing_key, is_revoked


def _check(listed: _Listed, register: Register) -> None:
    said = {
        place: (one.ordinal, one.signing_key, one.revoked_into is not None)
        for place, one in register.clients.items()
    }
    clients = said.keys() | listed.clients.keys()
    for key, name in sorted(clients):
        if said.get((key, name)) != listed.clients.get((key, name)):
            raise _differs(f"client {name} of key {key}")
    for token in sorted(register.tokens.keys() | listed.tokens.keys()):
        if register.tokens.get(token) != listed.tokens.get(token):
            raise _differs(f"the enrolment token {token}")


def _differs(what: str) -> UntrustedError:
    return UntrustedError(
        f"the key server's database does not say of {what} what its audit log says",
        "somebody else changed it: find out who writes there",
    )
