"""Noise by inversion of an integer table: as fast as numpy, and wrong by a stated eta only."""

from bisect import bisect_right
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

from fedperm.noise.law import GridLaplace
from fedperm.noise.thresholds import WORD_BITS, Thresholds, build_thresholds


@dataclass(frozen=True)
class TableSampler:
    """Compares 64 bits of a uniform integer with the table; draws the rest only on a tie.

    A tie has a chance of about limit * 2^-64, so precision beyond 64 bits costs no time. The
    sign is a bit of its own: the law is symmetric exactly. Like OpenDP's, the sampler is not
    constant-time; do not let others time it draw by draw.
    """

    law: GridLaplace
    _table: Thresholds = field(init=False, repr=False, compare=False)

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
        magnitudes = self._magnitudes(count, randomness)
        sign_bits = np.frombuffer(randomness.randbytes(-(-count // 8)), dtype=np.uint8)
        negative = np.unpackbits(sign_bits, count=count).view(np.bool_)
        return np.where(negative, -magnitudes, magnitudes)

    def _magnitudes(self, count: int, randomness: Random) -> NDArray[np.int64]:
        table = self._table
        words = np.frombuffer(randomness.randbytes(8 * count), dtype="<u8")
        not_above = np.searchsorted(table.leading, words, side="left")
        magnitudes = (table.limit - not_above).astype(np.int64)
        nearest = table.leading[np.minimum(not_above, table.limit - 1)]
        for tie in np.flatnonzero(nearest == words):
            magnitudes[tie] = self._settle(int(words[tie]), randomness)
        return magnitudes

    def _settle(self, word: int, randomness: Random) -> int:
        """The magnitude when the leading word equals a threshold's: by the full table."""
        rest = self._table.bits - WORD_BITS
        uniform = word << rest | int.from_bytes(randomness.randbytes(rest // 8), "big")
        return self._table.limit - bisect_right(self._table.ascending, uniform)
