"""The public key on the wire: one tensor `n`, big-endian."""

import numpy as np
from gmpy2 import mpz

from fedperm.errors import KeyStrengthError
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.body import Body, Tensor


def public_key_body(key_bits: int) -> Body:
    return Body((Tensor("n", np.dtype("u1"), (key_bits // 8,)),))


def encode_public_key(public_key: PublicKey) -> bytes:
    octets = public_key.n.to_bytes(public_key.key_bytes, "big")
    body = public_key_body(public_key.key_bits)
    return body.encode({"n": np.frombuffer(octets, np.uint8)})


def decode_public_key(
    body: bytes | memoryview, key_bits: int, *, insecure_for_tests: bool = False
) -> PublicKey:
    """The key, checked for its size; `key_bits` comes from the run's parameters."""
    octets = public_key_body(key_bits).decode(body)["n"].tobytes()
    key = PublicKey(mpz.from_bytes(octets, "big"), insecure_for_tests)
    if key.key_bits != key_bits:
        raise KeyStrengthError(
            f"n has {key.key_bits} bits, expected {key_bits}", "fetch the public key again"
        )
    return key
