"""Blinding factors for those who know p and q.

The n-th residues modulo n^2 are, by the Chinese remainder theorem, pairs of n-th residues
modulo p^2 and q^2, and those modulo p^2 are the cyclic group of order p - 1. So a uniform power
of a generator is a uniform blinding factor, with no assumption beyond Paillier's own. Powers of
a fixed base need no squarings: a table holds every digit at every place.
"""

from dataclasses import dataclass
from random import Random
from typing import NoReturn, Protocol

import gmpy2
from gmpy2 import mpz

from fedperm.errors import KeyStrengthError
from fedperm.schemes.paillier.multi_exponentiation import batch_invert
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.safe_primes import is_safe_prime

DIGIT_BITS = 8
"""One octet of the exponent a digit: 32,640 entries (about 10 MB) for a prime of 1024 bits."""


class _ResidueSource(Protocol):
    """Draws uniform n-th residues modulo the square of one prime."""

    def draw(self, randomness: Random) -> mpz: ...


class SecretBlinding:
    """Uniform blinding factors from residues modulo p^2 and q^2."""

    def __init__(self, key: SecretKey) -> None:
        """Tables for safe primes; imported keys of other primes get the slower way."""
        p, q = key.factors(SECRET_KEY_ACCESS)
        self.public_key: PublicKey = key.public_key
        self._p_residues, self._q_residues = _residue_source(p), _residue_source(q)
        self._p_square, self._q_square = p * p, q * q
        self._p_square_inverse = gmpy2.invert(self._p_square, self._q_square)

    def __reduce__(self) -> NoReturn:
        raise TypeError("the tables show p and q and cannot be pickled or copied")

    def draw(self, randomness: Random) -> mpz:
        a = self._p_residues.draw(randomness)
        b = self._q_residues.draw(randomness)
        return a + self._p_square * ((b - a) * self._p_square_inverse % self._q_square)


def _residue_source(prime: mpz) -> _ResidueSource:
    return _FixedBase(prime) if is_safe_prime(prime) else _FreshPower(prime)


class _Unpicklable:
    """Whatever holds p, q or their tables stays in this process."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("this holds a part of a secret key and cannot be pickled or copied")


class _FreshPower(_Unpicklable):
    """x^p mod p^2 for a fresh x below p: a bijection onto the n-th residues, for any prime."""

    def __init__(self, prime: mpz) -> None:
        self._prime = prime

    def draw(self, randomness: Random) -> mpz:
        x = mpz(randomness.randrange(1, int(self._prime)))
        return gmpy2.powmod(x, self._prime, self._prime * self._prime)


@dataclass(frozen=True, repr=False)
class _Place(_Unpicklable):
    """Base^(digit * 256^place) for every digit, each written a * (1 + p s).

    As in `multi_exponentiation` of the public half: the a are half as long as p^2, the s only
    add up.
    """

    a: list[mpz]
    s: list[mpz]


class _FixedBase(_Unpicklable):
    """Powers of one generator of the n-th residues modulo p^2, p a safe prime."""

    def __init__(self, prime: mpz) -> None:
        if not is_safe_prime(prime):
            raise KeyStrengthError("not a safe prime", "no generator is known for this key")
        self._prime = prime
        self._square = prime * prime
        self._places = self._tables()

    def draw(self, randomness: Random) -> mpz:
        """The generator to a uniform power below its order p - 1."""
        exponent = randomness.randrange(int(self._prime) - 1)
        return self._power(exponent)

    def _power(self, exponent: int) -> mpz:
        square = self._square
        a, s = mpz(1), mpz(0)
        for place, digit in zip(
            self._places, exponent.to_bytes(len(self._places), "little"), strict=True
        ):
            if digit:
                a = a * place.a[digit] % square
                s += place.s[digit]
        return a * (1 + self._prime * (s % self._prime)) % square

    def _tables(self) -> list[_Place]:
        places, base = [], self._generator()
        for _ in range(-(-self._prime.bit_length() // DIGIT_BITS)):
            powers = [mpz(1)]
            for _ in range((1 << DIGIT_BITS) - 1):
                powers.append(powers[-1] * base % self._square)
            places.append(self._split(powers))
            base = powers[-1] * base % self._square
        return places

    def _split(self, powers: list[mpz]) -> _Place:
        quotients, remainders = zip(
            *(gmpy2.f_divmod(power, self._prime) for power in powers), strict=True
        )
        inverses = batch_invert(remainders, self._prime)
        slopes = [q * i % self._prime for q, i in zip(quotients, inverses, strict=True)]
        return _Place(list(remainders), slopes)

    def _generator(self) -> mpz:
        """x^p for the first x that gives neither order 1, 2 nor p': only 2 p' remains."""
        x = mpz(2)
        while True:
            candidate = gmpy2.powmod(x, self._prime, self._square)
            if (
                candidate * candidate % self._square != 1
                and gmpy2.powmod(candidate, self._prime // 2, self._square) != 1
            ):
                return candidate
            x += 1
