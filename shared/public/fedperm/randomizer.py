"""The client's randomizer: Algorithm 1, lines 6 to 8, on the padded vector.

Clip, normalise, pad, round to the grid, add integer noise, clamp, re-scale to B bits. Everything
after the noise is post-processing and costs no privacy.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.noise.law import NoiseSampler
from fedperm.normalisation import CENTRE, normalise
from fedperm.windows import Geometry


@dataclass(frozen=True)
class Randomizer:
    """From an update of d parameters to coded windows; `noise=None` gives no privacy at all.

    Both roundings are unbiased and the noise is symmetric; the clamp at 8 b beyond [0, 1] moves
    the mean of a normalised value by less than b e^-8 / 2.
    """

    clip: float
    geometry: Geometry
    fixed_point: FixedPoint
    noise: NoiseSampler | None

    def __post_init__(self) -> None:
        if self.noise is not None and self.noise.law.reach < self.fixed_point.reach:
            raise ParameterError(
                f"the noise is cut for a reach of {self.noise.law.reach}, "
                f"the coded interval reaches {self.fixed_point.reach}",
                "build the noise for this fixed point: where the cut is seen, it shows the value",
            )

    def randomize(self, update: NDArray[np.float64], randomness: Random) -> NDArray[Any]:
        """One row a window, integers of B bits; padded positions are noised like all others."""
        windows = self.geometry.pad(normalise(update, self.clip), CENTRE)
        if self.noise is not None:
            windows = _noised(windows, self.noise, randomness)
        return self.fixed_point.encode(windows, randomness)


def _noised(
    normalised: NDArray[np.float64], noise: NoiseSampler, randomness: Random
) -> NDArray[np.float64]:
    steps = round_to_grid(normalised, noise.law.grid, randomness)
    steps += noise.draw(steps.size, randomness).reshape(steps.shape)
    return steps / noise.law.grid


def round_to_grid(
    normalised: NDArray[np.float64], grid: int, randomness: Random
) -> NDArray[np.int64]:
    """Integers 0 .. N, up or down at random so that the mean is N times the value.

    The record-level guarantee rests on these probabilities, so they are compared as integers
    of 63 bits: off by less than 2^-63, and not at all from 2^-10 / N up.
    """
    scaled = normalised * grid
    floor = np.floor(scaled)
    up_chance = np.ldexp(scaled - floor, 63).astype(np.uint64)
    words = np.frombuffer(randomness.randbytes(8 * scaled.size), dtype="<u8")
    up = (words >> np.uint64(1)).reshape(scaled.shape) < up_chance
    return floor.astype(np.int64) + up
