"""What every noise sampler offers, and what an inexact one costs."""

from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fedperm.noise.law import GridLaplace


class NoiseSampler(Protocol):
    """Draws integers from a `GridLaplace` law."""

    @property
    def law(self) -> GridLaplace: ...

    @property
    def name(self) -> str:
        """How the privacy report names the sampler."""

    @property
    def eta(self) -> float:
        """Bounds |p/p_true - 1| and |ln(p/p_true)| of every outcome of one draw."""

    def draw(self, count: int, randomness: Random, /) -> NDArray[np.int64]:
        """Independent draws, cut at +-law.limit."""


def sampler_epsilon(eta: float, positions: int, rounds: int) -> float:
    """2 d T eta, to be added to epsilon; d counts padded positions too.

    With kappa = d T eta, every event's probability is within e^(+-kappa) of the exact
    mechanism's, so P'(E) <= e^kappa (e^epsilon Q(E) + delta) <= e^(epsilon + 2 kappa) Q'(E) +
    e^kappa delta. The same kappa inflates delta: convert at delta e^(-kappa).
    """
    return 2 * positions * rounds * eta
