"""Secret keys as bytes, and to and from python-paillier. Every door needs the capability."""

import json
from dataclasses import dataclass
from typing import Any

import phe
from gmpy2 import mpz

from fedperm.errors import KeyStrengthError
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm_secret.access import SecretKeyAccess, check_access
from fedperm_secret.schemes.paillier.keys import SecretKey

_KIND = "fedperm paillier secret key"


def secret_key_to_bytes(key: SecretKey, access: SecretKeyAccess) -> bytes:
    """p and q in the open: encrypt before it leaves memory."""
    p, q = key.factors(access)
    document = {
        "kind": _KIND,
        "version": 1,
        "key_id": key.public_key.key_id,
        "p": f"{p:x}",
        "q": f"{q:x}",
    }
    return json.dumps(document, sort_keys=True).encode()


def secret_key_from_bytes(
    data: bytes, access: SecretKeyAccess, *, insecure_for_tests: bool = False
) -> SecretKey:
    """The inverse; a damaged document is refused without showing any of it."""
    check_access(access)
    try:
        stored = _parse(json.loads(data))
    except (ValueError, TypeError, RecursionError):
        raise _damaged() from None
    key = SecretKey(stored.p, stored.q, insecure_for_tests=insecure_for_tests)
    if key.public_key.key_id != stored.key_id:
        raise _damaged()
    return key


@dataclass(frozen=True, repr=False)
class _Stored:
    """What the bytes claim; the key id tells a damaged digit of p or q."""

    key_id: str
    p: mpz
    q: mpz


def _parse(document: Any) -> _Stored:
    match document:
        case {"kind": kind, "version": 1, "key_id": str(key_id), "p": str(p), "q": str(q)} if (
            kind == _KIND
        ):
            return _Stored(key_id, mpz(int(p, 16)), mpz(int(q, 16)))
        case _:
            raise ValueError


def _damaged() -> KeyStrengthError:
    return KeyStrengthError("these bytes are no secret key", "restore the key from its backup")


def secret_key_to_phe(key: SecretKey, access: SecretKeyAccess) -> phe.PaillierPrivateKey:
    p, q = key.factors(access)
    return phe.PaillierPrivateKey(public_key_to_phe(key.public_key), int(p), int(q))


def secret_key_from_phe(
    key: phe.PaillierPrivateKey, access: SecretKeyAccess, *, insecure_for_tests: bool = False
) -> SecretKey:
    """Works at once; its primes are rarely safe ones, so blinding takes the slower way."""
    check_access(access)
    return SecretKey(mpz(key.p), mpz(key.q), insecure_for_tests=insecure_for_tests)


def public_key_to_phe(key: PublicKey) -> phe.PaillierPublicKey:
    return phe.PaillierPublicKey(int(key.n))


def public_key_from_phe(
    key: phe.PaillierPublicKey, *, insecure_for_tests: bool = False
) -> PublicKey:
    return PublicKey(mpz(key.n), insecure_for_tests)
