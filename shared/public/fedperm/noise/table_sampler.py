"""Noise by inversion of an integer table: as fast as numpy, and wrong by a stated eta only.

The magnitude of the noise is at least m with probability S(m) = 2 a^m / (1 + a), m >= 1. The table
holds floor(2^P S(m)): a uniform P-bit integer U gives the magnitude #{m : U < table[m]}.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.noise.law import GridLaplace

__all__ = ["ACCURATE_BITS", "MAX_LIMIT", "TableSampler"]

WORD_BITS = 64
ACCURATE_BITS = 96
"""Every outcome's probability is right to at least so many bits, the rarest one's included."""

MAX_LIMIT = 1 << 21
"""Entries of the longest table: 2 to 3 seconds and 230 MB to build, 125 MB to keep."""

_GUARD_DIGITS = 20
_GUARD_ERROR = Decimal("1e-9")
"""Decimal's exp is correctly rounded, and a running product of 2^21 factors loses less than 8
digits, so 20 guard digits leave far less than this share of a unit in the last bit."""


@dataclass(frozen=True)
class TableSampler:
    """Compares 64 bits of a uniform integer with the table; draws the rest only on a tie.

    A tie has a chance of about limit * 2^-64, so precision beyond 64 bits costs no time. The
    sign is a bit of its own: the law is symmetric exactly. Like OpenDP's, the sampler is not
    constant-time; do not let others time it draw by draw.
    """

    law: GridLaplace
    _table: "Thresholds" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        table = build_thresholds(self.law.integer_scale, self.law.limit)
        object.__setattr__(self, "_table", table)

    @property
    def name(self) -> str:
        return f"integer table of {self._table.bits} bits (error {self.eta:.1e} per draw)"

    @property
    def eta(self) -> float:
        return self._table.eta

    def draw(self, count: int, randomness: Random, /) -> NDArray[np.int64]:
        table = self._table
        words = np.frombuffer(randomness.randbytes(8 * count), dtype="<u8")
        not_above = np.searchsorted(table.leading, words, side="left")
        magnitudes = (table.limit - not_above).astype(np.int64)
        nearest = table.leading[np.minimum(not_above, table.limit - 1)]
        rest = table.bits - WORD_BITS
        for tie in np.flatnonzero(nearest == words):  # the leading words cannot tell: compare all
            tail = int.from_bytes(randomness.randbytes(rest // 8), "big")
            uniform = int(words[tie]) << rest | tail
            magnitudes[tie] = table.limit - bisect_right(table.ascending, uniform)
        sign_bits = np.frombuffer(randomness.randbytes(-(-count // 8)), dtype=np.uint8)
        negative = np.unpackbits(sign_bits, count=count).view(np.bool_)
        return np.where(negative, -magnitudes, magnitudes)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """floor(2^bits S(m)) for m = limit .. 1, so in ascending order, and their leading words."""

    bits: int
    ascending: tuple[int, ...]
    leading: NDArray[np.uint64]
    eta: float

    @property
    def limit(self) -> int:
        return len(self.ascending)


@lru_cache(maxsize=4)
def build_thresholds(integer_scale: float, limit: int) -> Thresholds:
    """The table for noise of scale b*N in grid steps, cut at +-limit."""
    if limit > MAX_LIMIT:
        raise ParameterError(
            f"noise of scale {integer_scale:g} grid steps needs a table of {limit:,} entries",
            "choose a coarser grid N (16 is fine for b >= 1), or the OpenDP sampler",
        )
    with localcontext(Context(prec=50)):
        # The rarest magnitude is 0, limit - 1, or everything from limit on.
        a = _ratio(integer_scale)
        beyond = 2 / (1 + a) * (-limit / Decimal(integer_scale)).exp()
        rarest = min((1 - a) / (1 + a), beyond, beyond * (1 - a) / a)
        # Whole words, ACCURATE_BITS more than it takes to tell the rarest outcome from zero.
        leading_zeros = math.ceil(-rarest.adjusted() * math.log2(10))
        bits = -(-(ACCURATE_BITS + leading_zeros) // WORD_BITS) * WORD_BITS
        # Two floors differ by less than 1 from the true difference, whatever the outcome:
        # |p/p_true - 1| <= e with e = 2^-bits / rarest, and e/(1-e) also bounds |ln(p/p_true)|.
        e = (1 + _GUARD_ERROR) / (1 << bits) / rarest
        eta = math.nextafter(float(e / (1 - e)), math.inf)
    with localcontext(Context(prec=math.ceil(bits * math.log10(2)) + _GUARD_DIGITS)):
        ascending = tuple(_survival(integer_scale, limit, bits))[::-1]
    leading = np.array([t >> (bits - WORD_BITS) for t in ascending], dtype=np.uint64)
    return Thresholds(bits, ascending, leading, eta)


def _survival(integer_scale: float, limit: int, bits: int) -> Iterator[int]:
    """floor(2^bits S(m)) for m = 1 .. limit."""
    a = _ratio(integer_scale)
    survival = Decimal(1 << bits) * 2 / (1 + a)
    for _ in range(limit):
        survival *= a
        yield int(survival)


def _ratio(integer_scale: float) -> Decimal:
    return (-1 / Decimal(integer_scale)).exp()
