"""The token with which clients enrol: in a file that they all read.

So it is for as many of them as are expected, and for an hour: clients that have enrolled never
need one again, and for those that come later a new one is made.
"""

from collections.abc import Iterable
from pathlib import Path

from fedperm.clock import Clock
from fedperm.durable_file import replacing
from fedperm.errors import UnauthenticatedError
from fedperm.ids import KeyName
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.key_server import Identity, TokenRequest, TokenStatus
from fedperm_cli.client.tokens import issue_token
from fedperm_cli.servers.sessions import KeyOperator

POOL_SECONDS = 3600.0
_SOON_SECONDS = 600.0
"""A token that ends so soon is of no use to whoever starts now."""


async def provide_token(
    operator: KeyOperator, key: KeyName, file: Path, uses: int, clock: Clock
) -> TokenStatus:
    """The file's token, or a new one that is written there."""
    found = _read(file)
    known = (await operator.api.tokens(key, operator.token)).tokens
    usable = usable_token(found, await operator.api.identity(), known, clock.now())
    if usable is not None:
        return usable
    return await renew_token(operator, key, file, uses)


async def renew_token(operator: KeyOperator, key: KeyName, file: Path, uses: int) -> TokenStatus:
    """In the place of whatever is in the file."""
    wanted = TokenRequest(uses=uses, expires_in_seconds=POOL_SECONDS)
    return (await issue_token(operator, key, wanted, file, replacing)).status


def usable_token(
    token: EnrolmentToken | None, identity: Identity, known: Iterable[TokenStatus], now: float
) -> TokenStatus | None:
    """What the key server says of a token with which one more client can enrol."""
    if token is None or token.fingerprint != identity.fingerprint:
        return None
    for status in known:
        if status.id == token.id:
            lasts = not status.revoked and status.expires_at > now + _SOON_SECONDS
            return status if lasts and status.used < status.uses else None
    return None


def _read(file: Path) -> EnrolmentToken | None:
    """None for whatever is no token: it is replaced."""
    try:
        return parse_token(file.read_text().strip())
    except (OSError, UnicodeDecodeError, UnauthenticatedError):
        return None
