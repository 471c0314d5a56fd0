"""Safe primes p = 2 p' + 1 with p' prime too.

Modulo p^2 the n-th residues form a cyclic group of order p - 1 = 2 p'. With p' prime it is easy
to know a generator, so that fixed-base tables give uniform blinding factors (see
`fixed_base`); the threshold model (the paper's appendix) needs safe primes as well.
"""

from functools import cache
from random import Random

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

SIEVE_LIMIT = 1 << 16
SPAN = 1 << 15
"""Candidates sieved at a time, one in six numbers: p' = 5 modulo 6 for every safe prime > 7."""


def draw_safe_prime(bits: int, randomness: Random) -> mpz:
    """A safe prime of exactly `bits` bits whose two top bits are set.

    Candidates are sieved from a random start (both p' and 2 p' + 1 at once), then tested. With
    the two top bits set the product of two such primes has exactly 2 * bits bits.
    """
    while True:
        start = _random_start(bits - 1, randomness)
        for half in _survivors(start, bits - 1):
            if _is_prime_twice(half):
                return 2 * half + 1


def is_safe_prime(p: mpz) -> bool:
    return gmpy2.is_prime(p) and gmpy2.is_prime(p // 2)


def _random_start(bits: int, randomness: Random) -> mpz:
    """5 modulo 6, with the two top bits set."""
    start = mpz(randomness.getrandbits(bits) | (3 << (bits - 2)))
    return start - start % 6 + 5


def _survivors(start: mpz, bits: int) -> list[mpz]:
    """start + 6 i where neither the number nor its double plus one has a small factor."""
    length = min(SPAN, 1 << max(1, bits // 2))
    alive = np.ones(length, dtype=bool)
    for prime in _sieving_primes(start):
        residue = int(start % prime)
        step_inverse = pow(6, -1, prime)
        alive[-residue * step_inverse % prime :: prime] = False
        alive[((prime - 1) // 2 - residue) * step_inverse % prime :: prime] = False
    candidates = [start + 6 * int(i) for i in np.flatnonzero(alive)]
    return [candidate for candidate in candidates if candidate.bit_length() == bits]


def _sieving_primes(start: mpz) -> list[int]:
    """Primes from 5 on, all far below the candidates (which must not strike themselves out)."""
    limit = int(min(mpz(SIEVE_LIMIT), start // 4))
    return [prime for prime in _small_primes().tolist() if 5 <= prime < limit]


@cache
def _small_primes() -> NDArray[np.int64]:
    flags = np.ones(SIEVE_LIMIT, dtype=bool)
    flags[:2] = False
    for number in range(2, int(SIEVE_LIMIT**0.5) + 1):
        if flags[number]:
            flags[number * number :: number] = False
    return np.flatnonzero(flags)


def _is_prime_twice(half: mpz) -> bool:
    """A quick round for each first: most candidates fail it."""
    double = 2 * half + 1
    quick = gmpy2.is_prime(half, 1) and gmpy2.is_prime(double, 1)
    return quick and gmpy2.is_prime(half) and gmpy2.is_prime(double)
