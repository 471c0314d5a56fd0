"""Who may enrol: a decision on what is known, without a database.

The same token with the same two keys was answered before and is answered alike, whatever became
of the token since: the first answer may have been lost.
"""

import hmac
from dataclasses import dataclass

from fedperm.errors import GoneError, UnauthenticatedError
from fedperm_keyserver.records import Client, Token


@dataclass(frozen=True)
class Attempt:
    """What a client came with; of the token's secret only the hash."""

    key: str
    token: str
    secret_sha256: bytes
    signing_key: str
    sealing_key: str


@dataclass(frozen=True)
class Known:
    """What the key server knows about an attempt's token and keys."""

    token: Token | None
    holder: Client | None
    """The client that is enrolled with the attempt's signing key."""
    name_is_taken: bool
    """By a client, if the token names one."""
    clients: int


@dataclass(frozen=True)
class Admitted:
    client: Client


@dataclass(frozen=True)
class Repeated:
    client: Client


@dataclass(frozen=True)
class Refused:
    """To be recorded: a token, or a key, in a second pair of hands."""

    why: str


Verdict = Admitted | Repeated | Refused


def judge(attempt: Attempt, known: Known, now: float) -> Verdict:
    """Refusals that need no record are raised."""
    token = _checked_token(attempt, known.token)
    holder = known.holder
    if holder and (holder.token, holder.sealing_key) == (token.id, attempt.sealing_key):
        return Repeated(holder)
    if token.uses == 1 and token.used:
        return Refused("the token was used with other keys")
    _check_live(token, now)
    if holder:
        return Refused("the signing key is enrolled already, with another token or sealing key")
    if known.name_is_taken:
        return Refused("the token names a client that is enrolled already")
    return Admitted(_client(attempt, token, known.clients, now))


def _checked_token(attempt: Attempt, token: Token | None) -> Token:
    if token is None or not hmac.compare_digest(token.secret_sha256, attempt.secret_sha256):
        raise UnauthenticatedError(
            "there is no such enrolment token for this key", "ask the key operator for one"
        )
    return token


def _check_live(token: Token, now: float) -> None:
    hint = "ask the key operator for a new one"
    if token.revoked:
        raise GoneError("the enrolment token was revoked", hint)
    if now >= token.expires_at:
        raise GoneError("the enrolment token has expired", hint)
    if token.used >= token.uses:
        raise GoneError(f"all {token.uses} uses of the enrolment token are taken", hint)


def _client(attempt: Attempt, token: Token, ordinal: int, now: float) -> Client:
    return Client(
        key=attempt.key,
        name=token.client or generated_name(ordinal),
        ordinal=ordinal,
        token=token.id,
        signing_key=attempt.signing_key,
        sealing_key=attempt.sealing_key,
        enrolled_at=now,
    )


def generated_name(ordinal: int) -> str:
    return f"client-{ordinal}"


def is_generated_name(name: str) -> bool:
    """Such names are given to nobody else, so that they cannot be taken."""
    return name.startswith("client-") and name.removeprefix("client-").isdecimal()
