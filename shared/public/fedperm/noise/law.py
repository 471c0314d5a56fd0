"""The law of the noise, what every sampler of it offers, and what an inexact sampler costs.

The law says which integers are drawn, how likely each is, and where a draw may be cut.
"""

import math
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.normalisation import CENTRE

__all__ = [
    "FINE_GRID",
    "GridLaplace",
    "NoiseSampler",
    "exact_delta",
    "recommended_grid",
    "sampler_epsilon",
]

FINE_GRID = 256
"""Fine enough for the record-level guarantee even at b = 0.05 (see privacy.record_level)."""

_MAX_GRID = 1 << 16
_FINE_ENOUGH = 1 << 16
"""Above b*N = 2^16 a finer grid changes the record-level sensitivity by less than 1e-5."""


@dataclass(frozen=True)
class GridLaplace:
    """P(k) = (1-a)/(1+a) a^|k| with a = e^(-1/(b N)), cut at +-limit.

    Neighbouring integers differ by e^(1/(b N)) in likelihood, and a normalised value moves at
    most N grid steps: 1/b-DP, exactly, as in the continuous case.
    """

    laplace_scale: float
    grid: int
    reach: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.laplace_scale) and self.laplace_scale > 0):
            raise ParameterError(
                f"the Laplace scale b is {self.laplace_scale}",
                "choose a positive number; to run without noise, pass noise=None",
            )
        if not (1 <= self.grid <= _MAX_GRID and self.grid & (self.grid - 1) == 0):
            raise ParameterError(
                f"the grid N is {self.grid}",
                f"choose a power of two up to {_MAX_GRID}, so that b*N and x*N are exact",
            )
        if not (math.isfinite(self.reach) and self.reach >= CENTRE):
            raise ParameterError(
                f"the coded interval reaches {self.reach} around 1/2",
                "pass the reach of the run's fixed point",
            )

    @property
    def integer_scale(self) -> float:
        """b*N: the scale in grid steps. N is a power of two, so the product is exact."""
        return self.laplace_scale * self.grid

    @property
    def limit(self) -> int:
        """A noise of +-limit lands beyond the coded interval from every value in [0, 1].

        So clamp(x + clamp(noise, +-limit)) = clamp(x + noise) for every x: cutting the noise here
        is post-processing, and one table serves all x. At a smaller limit the cut itself would
        show x. The margin of one whole step keeps that true under the rounding of floats.
        """
        return math.floor((self.reach + CENTRE) * self.grid) + 2


def recommended_grid(laplace_scale: float) -> int:
    """FINE_GRID; coarser beside very large noise, where it would only enlarge the table."""
    grid = FINE_GRID
    while grid > 1 and grid * laplace_scale > _FINE_ENOUGH:
        grid //= 2
    return grid


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
    e^kappa delta. The same kappa inflates delta: count the exact mechanism at `exact_delta`.
    """
    return 2 * positions * rounds * eta


def exact_delta(delta: float, extra: float) -> float:
    """delta e^(-kappa), where the exact mechanism is counted; `extra` is the sampler's epsilon."""
    return delta * math.exp(-extra / 2)
