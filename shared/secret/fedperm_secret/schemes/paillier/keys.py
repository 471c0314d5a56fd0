"""The secret key: p and q behind a closed door."""

from random import Random
from typing import NoReturn

import gmpy2
from gmpy2 import mpz

from fedperm.errors import KeyStrengthError
from fedperm.schemes.paillier.public_key import DEFAULT_KEY_BITS, PublicKey, check_key_bits
from fedperm_secret.access import SecretKeyAccess, check_access
from fedperm_secret.schemes.paillier.safe_primes import draw_safe_prime


class SecretKey:
    """Decrypts. Shows nothing when printed, cannot be pickled or copied."""

    __slots__ = ("_p", "_q", "public_key")

    def __init__(self, p: mpz, q: mpz, *, insecure_for_tests: bool = False) -> None:
        if p == q or not (gmpy2.is_prime(p) and gmpy2.is_prime(q)):
            raise KeyStrengthError(
                "p and q are not two different primes", "generate or import the key again"
            )
        if p.bit_length() != q.bit_length():
            raise KeyStrengthError(
                "p and q differ in length: the shorter one is easy to find",
                "use primes of the same length",
            )
        self.public_key = PublicKey(p * q, insecure_for_tests)
        if gmpy2.gcd(self.public_key.n, (p - 1) * (q - 1)) != 1:
            raise KeyStrengthError(
                "n shares a factor with (p-1)(q-1)", "use primes of the same length"
            )
        self._p, self._q = p, q

    def factors(self, access: SecretKeyAccess) -> tuple[mpz, mpz]:
        """p and q, for those who hold the capability."""
        check_access(access)
        return self._p, self._q

    def __repr__(self) -> str:
        return f"<SecretKey of {self.public_key.key_id[:16]}>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("a secret key cannot be pickled or copied; see `storage`")

    __reduce__ = __getstate__


def generate_key(
    randomness: Random,
    key_bits: int = DEFAULT_KEY_BITS,
    *,
    insecure_for_tests: bool = False,
) -> SecretKey:
    """A fresh key of two safe primes; short keys need the explicit switch."""
    check_key_bits(key_bits, insecure_for_tests=insecure_for_tests)
    p = draw_safe_prime(key_bits // 2, randomness)
    q = draw_safe_prime(key_bits // 2, randomness)
    while q == p:
        q = draw_safe_prime(key_bits // 2, randomness)
    return SecretKey(p, q, insecure_for_tests=insecure_for_tests)
