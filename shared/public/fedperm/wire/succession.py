"""Whom to believe after a key server has changed its signing key.

Whoever knows an older key follows the statements, each signed by the key before, to the newest one.
Nobody goes back: a key that was given up may have been given up because somebody else has it.
"""

from collections.abc import Iterator

from fedperm.errors import UntrustedError
from fedperm.wire.key_server import Identity
from fedperm.wire.public_keys import KeyText, fingerprint, signing_key
from fedperm.wire.signed import unverified, verify
from fedperm.wire.statements import IdentitySuccession


def followed(known: str, identity: Identity) -> tuple[KeyText, ...]:
    """All signing keys from the one with the known fingerprint to the key server's newest."""
    keys = tuple(_links(known, identity))
    if keys[-1:] != (identity.signing_key,):
        raise UntrustedError(
            "no succession leads from the key server that is known to this one",
            "check the address and the CA; somebody may stand between",
        )
    return keys


def _links(known: str, identity: Identity) -> Iterator[KeyText]:
    """Statements before the known key are passed over: nothing is believed because of them."""
    if fingerprint(identity.signing_key) == known:
        yield identity.signing_key
        return
    expected = known
    for text in identity.succession:
        claimed = unverified(text, IdentitySuccession)
        if fingerprint(claimed.signing_key) != expected:
            continue
        link = verify(text, IdentitySuccession, signing_key(claimed.signing_key))
        if expected == known:
            yield link.signing_key
        yield link.successor
        expected = fingerprint(link.successor)
