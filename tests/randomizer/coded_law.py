"""The law of one coded value, by the definition: round, add unclamped noise, clamp, round."""

import math

import numpy as np
from numpy.typing import NDArray

from fedperm.fixed_point import FixedPoint
from fedperm.noise.law import GridLaplace
from tests.noise.exact_law import noise_law


def coded_law(x: float, law: GridLaplace, code: FixedPoint) -> NDArray[np.float64]:
    """P(coded = 0 .. 2^B - 1) of a normalised value; the noise is followed four limits out."""
    far = 4 * law.limit
    chances = np.zeros(code.top + 2)
    low_step = math.floor(x * law.grid)
    up = x * law.grid - low_step
    for step, share in ((low_step, 1 - up), (low_step + 1, up)):
        values = (step + np.arange(-far, far + 1)) / law.grid
        place = (np.clip(values, 0.5 - code.reach, 0.5 + code.reach) - code.low) / code.step
        place = np.clip(place, 0, code.top)
        floor = np.floor(place).astype(np.int64)
        weights = share * noise_law(law, far)
        np.add.at(chances, floor, weights * (1 - (place - floor)))
        np.add.at(chances, floor + 1, weights * (place - floor))
    return chances[:-1]
