"""The rules of enrolment: decisions about what is known, without a database.

The same token with the same two keys is answered as it was the first time, whatever became of the
token since: the first answer may have been lost.
"""

import hmac

from fedperm.errors import (
    EarlierEpochError,
    GoneError,
    InvalidRequestError,
    UnauthenticatedError,
)
from fedperm.ids import ClientName, EpochNumber
from fedperm_keyserver.records import (
    Admitted,
    Attempt,
    Client,
    Known,
    Refused,
    Repeated,
    Token,
    Verdict,
)


def judge(attempt: Attempt, known: Known, now: float) -> Verdict:
    """Raises what needs no record. A refusal that does is a verdict: an error would undo the
    transaction that has to record it."""
    token, holder = known.token, known.holder
    if token is None or not hmac.compare_digest(token.secret_sha256, attempt.secret_sha256):
        raise UnauthenticatedError(
            "there is no such enrolment token for this key", "ask the key operator for one"
        )
    if holder and (holder.token, holder.sealing_key) == (token.id, attempt.sealing_key):
        return Repeated(holder)
    if token.uses == 1 and token.used:
        return Refused("the token was used with other keys")
    _check_live(token, now)
    if holder:
        return Refused("the signing key is enrolled already, with another token or sealing key")
    if known.name_is_taken:
        return Refused("the token names a client that is enrolled already")
    client = Client(
        key=attempt.key,
        name=token.client or generated_name(known.clients),
        ordinal=known.clients,
        token=token.id,
        signing_key=attempt.signing_key,
        sealing_key=attempt.sealing_key,
        enrolled_at=now,
        first_epoch=known.latest_epoch,
    )
    return Admitted(client)


def check_epoch(client: Client, number: EpochNumber) -> None:
    """Whether a client may be given this one. A key that was replaced is often one that somebody
    was to lose: whoever comes later has no need of it."""
    if number < client.first_epoch:
        raise EarlierEpochError(
            f"client {client.name} was enrolled in epoch {client.first_epoch}, and is given no "
            f"older key than that",
            "start from a checkpoint that the run's clients have sealed",
        )


def _check_live(token: Token, now: float) -> None:
    hint = "ask the key operator for a new one"
    if token.revoked:
        raise GoneError("the enrolment token was revoked", hint)
    if now >= token.expires_at:
        raise GoneError("the enrolment token has expired", hint)
    if token.used >= token.uses:
        raise GoneError(f"all {token.uses} uses of the enrolment token are taken", hint)


def check_token_name(client: ClientName | None, uses: int) -> None:
    """Whether a new token may be for this name, if it is for one."""
    if client is None:
        return
    if uses > 1:
        raise InvalidRequestError(
            "a token for many clients names one", "leave out the name, or set uses to 1"
        )
    if is_generated_name(client):
        raise InvalidRequestError(
            f"{client} is a name for clients without one",
            "choose a name that is not client- and a number",
        )


def generated_name(ordinal: int) -> ClientName:
    return ClientName(f"client-{ordinal}")


def is_generated_name(name: ClientName) -> bool:
    """Such names are given to nobody else, so that they cannot be taken."""
    return name.startswith("client-") and name.removeprefix("client-").isdecimal()
