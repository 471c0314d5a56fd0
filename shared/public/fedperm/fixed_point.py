"""Normalised values as integers of B bits, and sums of such integers as averages.

The coded interval is [1/2 - reach, 1/2 + reach]. Without noise a reach of 1/2 covers [0, 1];
with Laplace noise it must cover the noise too, or clamping would bias the average.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.normalisation import CENTRE

MAX_VALUE_BITS = 20
"""A step of a millionth of the coded interval: finer than any use here."""


@dataclass(frozen=True)
class FixedPoint:
    """Integers 0 .. 2^B - 1 spread evenly over the coded interval, both ends included."""

    value_bits: int
    reach: float

    def __post_init__(self) -> None:
        if not 1 <= self.value_bits <= MAX_VALUE_BITS:
            raise ParameterError(
                f"value_bits is {self.value_bits}", f"choose 1 to {MAX_VALUE_BITS} bits"
            )
        if not (np.isfinite(self.reach) and self.reach >= CENTRE):
            raise ParameterError(
                f"the coded interval reaches {self.reach} around 1/2",
                "a normalised value needs a reach of at least 1/2",
            )

    @property
    def top(self) -> int:
        """The largest coded integer, 2^B - 1."""
        return (1 << self.value_bits) - 1

    @property
    def step(self) -> float:
        """What one unit of a coded integer means, in normalised units."""
        return 2 * self.reach / self.top

    @property
    def low(self) -> float:
        """The normalised value that the integer 0 stands for."""
        return CENTRE - self.reach

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type that holds B bits: the type on the wire."""
        return np.dtype(
            "<u1" if self.value_bits <= 8 else "<u2" if self.value_bits <= 16 else "<u4"
        )

    def encode(self, normalised: NDArray[np.float64], randomness: Random) -> NDArray[Any]:
        """Clamp, then round up or down at random so that the mean over roundings is exact."""
        scaled = np.clip((normalised - self.low) / self.step, 0, self.top)
        floor = np.floor(scaled)
        up = _uniform(scaled.shape, randomness) < scaled - floor
        return (floor + up).astype(self.dtype)

    def decode_mean(self, total: NDArray[Any], contributors: int) -> NDArray[np.float64]:
        """The mean normalised value behind a sum of `contributors` coded integers."""
        return self.low + self.step * (total.astype(np.float64) / contributors)


def _uniform(shape: tuple[int, ...], randomness: Random) -> NDArray[np.float64]:
    """Uniform in [0, 1) with 53 bits, from the given generator only."""
    count = int(np.prod(shape))
    words = np.frombuffer(randomness.randbytes(8 * count), dtype="<u8")
    return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)
