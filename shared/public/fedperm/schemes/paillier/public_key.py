"""The public half of Paillier's scheme, with g = n + 1 (Paillier 1999, variant of section 4).

Enc(m) = (1 + m n) * r^n mod n^2. The factor r^n hides m; it is called the blinding factor and
may be made long before m is known (see `blinding`).
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import CiphertextError, KeyStrengthError, SharedFactorError

KEY_SIZES = (2048, 3072, 4096)
DEFAULT_KEY_BITS = 2048


def check_key_bits(key_bits: int, *, insecure_for_tests: bool) -> None:
    """Refuses unusual key sizes; the switch opens the door for fast tests only."""
    if key_bits in KEY_SIZES:
        return
    if not insecure_for_tests:
        raise KeyStrengthError(
            f"a key of {key_bits} bits", f"choose one of {', '.join(map(str, KEY_SIZES))} bits"
        )
    if not 64 <= key_bits <= KEY_SIZES[-1] or key_bits % 16:
        raise KeyStrengthError(
            f"a test key of {key_bits} bits",
            f"choose 64 to {KEY_SIZES[-1]} bits, and a multiple of 16",
        )


@dataclass(frozen=True)
class PublicKey:
    """n, and what follows from it. `insecure_for_tests` admits short keys."""

    n: mpz
    insecure_for_tests: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_key_bits(self.key_bits, insecure_for_tests=self.insecure_for_tests)
        if not self.n % 2 or gmpy2.is_prime(self.n) or gmpy2.is_power(self.n):
            raise KeyStrengthError(
                "n is not a product of two different odd primes", "fetch the public key again"
            )

    @property
    def key_bits(self) -> int:
        return self.n.bit_length()

    @property
    def key_bytes(self) -> int:
        return self.key_bits // 8

    @property
    def ciphertext_bytes(self) -> int:
        return 2 * self.key_bytes

    @cached_property
    def n_squared(self) -> mpz:
        return self.n * self.n

    @cached_property
    def key_id(self) -> str:
        """The fingerprint: SHA-256 of n, in hexadecimal."""
        octets = self.n.to_bytes(self.key_bytes, "big")
        return hashlib.sha256(b"fedperm paillier n\x00" + octets).hexdigest()

    @property
    def material(self) -> Mapping[str, str]:
        """n in hexadecimal."""
        return {"n": f"{self.n:x}"}

    def message_factor(self, plaintext: mpz) -> mpz:
        """g^m = 1 + m n: the ciphertext of m before it is blinded."""
        return (1 + plaintext * self.n) % self.n_squared

    def encrypt(self, plaintext: mpz, blinding_factor: mpz) -> mpz:
        """The factor must be fresh: two ciphertexts with one factor show m1 - m2."""
        return self.message_factor(plaintext) * blinding_factor % self.n_squared

    def blinding_factor(self, r: mpz) -> mpz:
        """r^n mod n^2, the slow way that needs no secret."""
        return gmpy2.powmod(r, self.n, self.n_squared)

    def draw_unit(self, randomness: Random) -> mpz:
        """r uniform among the invertible numbers below n."""
        while True:
            r = mpz(randomness.randrange(1, int(self.n)))
            if gmpy2.gcd(r, self.n) == 1:
                return r

    def draw_residue(self, randomness: Random) -> mpz:
        """Uniform below n^2."""
        return mpz(randomness.randrange(int(self.n_squared)))

    def to_bytes(self, ciphertext: mpz) -> bytes:
        return ciphertext.to_bytes(self.ciphertext_bytes, "little")

    def to_array(self, ciphertexts: Iterable[mpz], *shape: int) -> NDArray[np.uint8]:
        """Octets of fixed width in the last axis, below the axes of `shape`."""
        octets = b"".join(map(self.to_bytes, ciphertexts))
        return np.frombuffer(octets, np.uint8).reshape(*shape, self.ciphertext_bytes)

    def check_ciphertexts(self, ciphertexts: Iterable[mpz]) -> None:
        """Refuses 0, anything from n^2 on, and anything that is not invertible.

        One gcd serves the whole batch. A gcd above 1 may be p or q itself: it is neither
        returned nor put into the error.
        """
        product = mpz(1)
        for ciphertext in ciphertexts:
            if not 0 < ciphertext < self.n_squared:
                raise CiphertextError(
                    "a ciphertext lies outside 1 .. n^2 - 1", "encrypt under this run's public key"
                )
            product = product * ciphertext % self.n
        if gmpy2.gcd(product, self.n) != 1:
            raise SharedFactorError(
                "a ciphertext shares a factor with n",
                "reject the sender, keep its upload from everybody and rotate the key",
            )


def read_ciphertexts(array: NDArray[np.uint8]) -> Iterator[mpz]:
    """The numbers in an array whose last axis is the octets of one number, in order."""
    width = array.shape[-1]
    for row in array.reshape(-1, width):
        yield mpz.from_bytes(row.tobytes(), "little")
