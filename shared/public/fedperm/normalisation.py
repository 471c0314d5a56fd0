"""Clipping to [-C, C] and the map to [0, 1] and back (Algorithm 1, lines 6, 7 and 18)."""

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError

CENTRE = 0.5
"""A zero update after normalising; also what a padded position holds before the noise."""


def normalise(update: NDArray[np.float64], clip: float) -> NDArray[np.float64]:
    """Each coordinate clipped to [-clip, clip] and mapped to [0, 1]."""
    _check_clip(clip)
    if not np.isfinite(update).all():
        raise ParameterError(
            "the update holds NaN or infinity",
            "training diverged: lower the learning rate or check the data",
        )
    return (np.clip(update, -clip, clip) + clip) / (2 * clip)


def denormalise(mean: NDArray[np.float64], clip: float) -> NDArray[np.float64]:
    """C(2z - 1): from the average of normalised updates back to an update of the model."""
    _check_clip(clip)
    return clip * (2 * mean - 1)


def _check_clip(clip: float) -> None:
    if not (np.isfinite(clip) and clip > 0):
        raise ParameterError(f"the clip C is {clip}", "choose a positive number")
