"""prod_j base_j ^ exponent_j modulo n^2, for all windows of a pattern at once.

This is nearly all of the aggregator's work, so multiplications are counted. Two ideas:

*Joint chunks.* The exponents of one base over all its windows are one string of bits, cut into
digits of c bits that ignore where a window ends. One pass multiplies every base into the bucket
of its digit; from the 2^c buckets follow the products of the c bit rows; Horner's rule over its
own bit rows gives each window (Pippenger's bucket method, shared by the windows).

*Half-size factors.* Write a base as a * (1 + n s) with a = base mod n. Then
prod base = (prod a) * (1 + n * sum s) modulo n^2: the slopes s only add up, and what is
multiplied into a bucket has half the length of n^2. Splitting costs an inversion per base
(shared by a block), so it pays when a base meets several chunks. ADR 5 has the measurements.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

HALF_SIZE_COST = 0.56
SPLIT_COST = 1.6
"""A half-size multiplication, and splitting a base, in full-size multiplications (ADR 5)."""

MAX_BUCKET_BITS = 14
ONE, ZERO = mpz(1), mpz(0)


def chunk_count(bits: int, bucket_bits: int) -> int:
    return -(-bits // bucket_bits)


def multiplications(bases: int, bits: int, bucket_bits: int) -> tuple[int, int]:
    """Expected (into buckets, full-size) multiplications for random exponents of that length."""
    whole, rest = divmod(bits, bucket_bits)
    into_buckets = whole * _into_buckets(bases, bucket_bits) + _into_buckets(bases, rest)
    reduction = whole * _reduction(bases, bucket_bits) + _reduction(bases, rest)
    return round(into_buckets), round(reduction) + 2 * bits


def _into_buckets(bases: int, width: int) -> float:
    """Every base with a non-zero digit, less the first in each bucket, which is only put there."""
    buckets = 1 << width
    return bases * (1 - 1 / buckets) - (buckets - 1) * _filled(bases, buckets)


def _reduction(bases: int, width: int) -> float:
    """Level by level as in `_bit_rows`: the product of the odd buckets, and the merging."""
    cost = 0.0
    for level in range(1, width + 1):
        half, filled = 1 << (level - 1), _filled(bases, 1 << level)
        cost += max(0.0, half * filled - 1) + (half - 1) * filled * filled
    return cost


def _filled(bases: int, buckets: int) -> float:
    """The chance that a bucket holds at least one base."""
    return 1 - (1 - 1 / buckets) ** bases


def splitting_pays(chunks: int) -> bool:
    """A base is split once and multiplied into one bucket per chunk."""
    return chunks * (1 - HALF_SIZE_COST) > SPLIT_COST


def best_bucket_bits(bases: int, bits: int) -> int:
    """The bucket width c with the least expected work for so many bases and exponent bits."""

    def work(bucket_bits: int) -> float:
        into_buckets, full = multiplications(bases, bits, bucket_bits)
        if splitting_pays(chunk_count(bits, bucket_bits)):
            return into_buckets * HALF_SIZE_COST + bases * SPLIT_COST + full
        return into_buckets + full

    return min(range(1, min(bits, MAX_BUCKET_BITS) + 1), key=work)


def bucket_bytes(bases: int, bits: int, key_bits: int) -> int:
    """Memory of all buckets at the best width: a product below n^2 and a slope below n each."""
    width = best_bucket_bits(bases, bits)
    one_bucket = 3 * key_bits // 8 + 130  # two Python objects, two list entries
    return chunk_count(bits, width) * (1 << width) * one_bucket


@dataclass
class Factor:
    """The number a * (1 + n s) modulo n^2, as the pair (a, s)."""

    a: mpz
    s: mpz


@dataclass
class Tally:
    """Multiplications modulo n^2 done so far: by a factor below n, and by one below n^2.

    Splitting a base costs four multiplications and a division modulo n; it is counted apart.
    """

    half_size: int = 0
    full_size: int = 0
    split_bases: int = 0

    @property
    def modmuls(self) -> int:
        return self.half_size + self.full_size


@dataclass
class MultiExponentiation:
    """Accumulates blocks of bases; `results` closes the computation."""

    n: mpz
    windows: int
    value_bits: int
    bucket_bits: int
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self._n_squared = self.n * self.n
        self._chunks = chunk_count(self.windows * self.value_bits, self.bucket_bits)
        self._splits = splitting_pays(self._chunks)
        buckets = 1 << self.bucket_bits
        self._products = [[ONE] * buckets for _ in range(self._chunks)]
        self._slopes = [[ZERO] * buckets for _ in range(self._chunks)]

    def add(self, bases: Sequence[mpz], exponents: NDArray[Any]) -> None:
        """Multiplies in base_i ^ exponents[i, x] for every window x; the bases must be units."""
        smalls, slopes = self._split(bases)
        for chunk, digits in enumerate(self._digits(exponents)):
            self._fill_buckets(chunk, smalls, slopes, digits.tolist())

    def results(self) -> list[mpz]:
        """The product of each window."""
        rows = [row for chunk in range(self._chunks) for row in self._bit_rows(chunk)]
        return [
            self._join(self._horner(rows[start:stop]))
            for start, stop in pairwise(
                range(0, (self.windows + 1) * self.value_bits, self.value_bits)
            )
        ]

    def _digits(self, exponents: NDArray[Any]) -> NDArray[np.int64]:
        """Row t: the t-th c-bit digit of every base's bit string, lowest bits first."""
        octets = exponents.astype("<u4")[:, :, None].view(np.uint8)
        bits = np.unpackbits(octets, axis=2, count=self.value_bits, bitorder="little")
        string = bits.reshape(len(exponents), self.windows * self.value_bits)
        padding = self._chunks * self.bucket_bits - string.shape[1]
        string = np.pad(string, ((0, 0), (0, padding)))
        weights = np.int64(1) << np.arange(self.bucket_bits)
        return (string.reshape(len(exponents), self._chunks, self.bucket_bits) @ weights).T

    def _split(self, bases: Sequence[mpz]) -> tuple[Sequence[mpz], Sequence[mpz]]:
        if not self._splits:
            return bases, [ZERO] * len(bases)
        self.tally.split_bases += len(bases)
        quotients, smalls = zip(*(gmpy2.f_divmod(base, self.n) for base in bases), strict=True)
        inverses = batch_invert(smalls, self.n)
        return smalls, [q * i % self.n for q, i in zip(quotients, inverses, strict=True)]

    def _fill_buckets(
        self, chunk: int, smalls: Iterable[mpz], slopes: Iterable[mpz], digits: list[int]
    ) -> None:
        n_squared = self._n_squared
        products, sums = self._products[chunk], self._slopes[chunk]
        untouched = sum(products[digit] is ONE for digit in set(digits) if digit)
        for a, s, digit in zip(smalls, slopes, digits, strict=True):
            if digit:
                products[digit] = products[digit] * a % n_squared
                sums[digit] += s
        done = len(digits) - digits.count(0) - untouched
        if self._splits:
            self.tally.half_size += done
        else:
            self.tally.full_size += done

    def _bit_rows(self, chunk: int) -> list[Factor]:
        """For each of the c bits the product of all buckets whose number has that bit set.

        Bucket 2i+1 has bit 0 set; multiplying it into bucket 2i leaves the same question for
        the other bits with half as many buckets.
        """
        buckets = [
            Factor(a, s) for a, s in zip(self._products[chunk], self._slopes[chunk], strict=True)
        ]
        rows = []
        while len(buckets) > 1:
            even, odd = buckets[0::2], buckets[1::2]
            rows.append(self._product(odd))
            buckets = even[:1] + [self._times(e, o) for e, o in zip(even[1:], odd[1:], strict=True)]
        return rows

    def _horner(self, rows: Sequence[Factor]) -> Factor:
        """prod_i rows[i] ^ (2^i)."""
        total = rows[-1]
        for row in reversed(rows[:-1]):
            total = self._times(self._times(total, total), row)
        return total

    def _product(self, factors: Sequence[Factor]) -> Factor:
        total = Factor(ONE, ZERO)
        for factor in factors:
            total = self._times(total, factor)
        return total

    def _times(self, left: Factor, right: Factor) -> Factor:
        if right.a is ONE:  # an empty bucket: nothing to multiply, and its slope is 0
            return left
        if left.a is ONE:
            return right
        self.tally.full_size += 1
        return Factor(left.a * right.a % self._n_squared, left.s + right.s)

    def _join(self, factor: Factor) -> mpz:
        self.tally.full_size += 1
        return factor.a * (1 + self.n * (factor.s % self.n)) % self._n_squared


def batch_invert(numbers: Sequence[mpz], modulus: mpz) -> list[mpz]:
    """All inverses for one inversion and three multiplications each (Montgomery's trick)."""
    prefixes = [ONE]
    for number in numbers:
        prefixes.append(prefixes[-1] * number % modulus)
    suffix = gmpy2.invert(prefixes[-1], modulus)
    inverses = []
    for prefix, number in zip(reversed(prefixes[:-1]), reversed(numbers), strict=True):
        inverses.append(prefix * suffix % modulus)
        suffix = suffix * number % modulus
    inverses.reverse()
    return inverses
