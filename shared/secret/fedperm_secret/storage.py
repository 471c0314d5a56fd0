"""Secret keys as bytes, and to and from python-paillier. Every door needs the capability."""

import json
from typing import Any

import phe
from gmpy2 import mpz

from fedperm.errors import KeyStrengthError
from fedperm.paillier import PublicKey
from fedperm_secret.access import SecretKeyAccess
from fedperm_secret.keys import SecretKey

_KIND = "fedperm paillier secret key"


def secret_key_to_bytes(key: SecretKey, access: SecretKeyAccess) -> bytes:
    """p and q in the open: encrypt before it leaves memory."""
    p, q = key.factors(access)
    document = {"kind": _KIND, "version": 1, "p": f"{p:x}", "q": f"{q:x}"}
    return json.dumps(document, sort_keys=True).encode()


def secret_key_from_bytes(
    data: bytes, _access: SecretKeyAccess, *, insecure_for_tests: bool = False
) -> SecretKey:
    """The inverse; a damaged document is refused without showing any of it."""
    try:
        p, q = _parse(json.loads(data))
    except (ValueError, TypeError):
        raise KeyStrengthError(
            "these bytes are no secret key", "restore the key from its backup"
        ) from None
    return SecretKey(p, q, insecure_for_tests=insecure_for_tests)


def _parse(document: Any) -> tuple[mpz, mpz]:
    """p and q of a document of exactly this kind and version."""
    match document:
        case {"kind": kind, "version": 1, "p": str(p), "q": str(q)} if kind == _KIND:
            return mpz(int(p, 16)), mpz(int(q, 16))
        case _:
            raise ValueError


def secret_key_to_phe(key: SecretKey, access: SecretKeyAccess) -> phe.PaillierPrivateKey:
    p, q = key.factors(access)
    return phe.PaillierPrivateKey(public_key_to_phe(key.public_key), int(p), int(q))


def secret_key_from_phe(
    key: phe.PaillierPrivateKey, _access: SecretKeyAccess, *, insecure_for_tests: bool = False
) -> SecretKey:
    """Works at once; its primes are rarely safe ones, so blinding takes the slower way."""
    return SecretKey(mpz(key.p), mpz(key.q), insecure_for_tests=insecure_for_tests)


def public_key_to_phe(key: PublicKey) -> phe.PaillierPublicKey:
    return phe.PaillierPublicKey(int(key.n))


def public_key_from_phe(
    key: phe.PaillierPublicKey, *, insecure_for_tests: bool = False
) -> PublicKey:
    return PublicKey(mpz(key.n), insecure_for_tests)
