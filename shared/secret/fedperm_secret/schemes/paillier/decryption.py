"""Decryption modulo p^2 and q^2, joined by Chinese remainders (Paillier 1999, section 7)."""

from dataclasses import dataclass
from typing import NoReturn

import gmpy2
from gmpy2 import mpz

from fedperm.schemes.paillier.public_key import PublicKey
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey


@dataclass(frozen=True, repr=False)
class _Half:
    """Decryption modulo one of the primes."""

    prime: mpz
    square: mpz
    scale: mpz

    def __reduce__(self) -> NoReturn:
        raise TypeError("half of a secret key cannot be pickled or copied")

    def decrypt(self, ciphertext: mpz) -> mpz:
        power = gmpy2.powmod(ciphertext % self.square, self.prime - 1, self.square)
        return (power - 1) // self.prime * self.scale % self.prime


class Decryptor:
    """A secret key with what decryption needs worked out once."""

    def __init__(self, key: SecretKey) -> None:
        p, q = key.factors(SECRET_KEY_ACCESS)
        self.public_key: PublicKey = key.public_key
        self._p_half = _half(p, self.public_key)
        self._q_half = _half(q, self.public_key)
        self._p_inverse = gmpy2.invert(p, q)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a decryptor holds a secret key and cannot be pickled or copied")

    def decrypt(self, ciphertext: mpz) -> mpz:
        """The plaintext in [0, n)."""
        p, q = self._p_half.prime, self._q_half.prime
        modulo_p = self._p_half.decrypt(ciphertext)
        modulo_q = self._q_half.decrypt(ciphertext)
        return modulo_p + p * ((modulo_q - modulo_p) * self._p_inverse % q)


def _half(prime: mpz, public_key: PublicKey) -> _Half:
    square = prime * prime
    power = gmpy2.powmod((1 + public_key.n) % square, prime - 1, square)
    return _Half(prime, square, gmpy2.invert((power - 1) // prime, prime))
