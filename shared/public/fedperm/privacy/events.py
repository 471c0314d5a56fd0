"""What happened, apart from how it is counted (in the spirit of dp_accounting).

A client's release in one round is its padded, normalised update, each coordinate (sensitivity 1)
noised with Laplace of scale b, the superwindows of each pattern shuffled.
"""

import math
from dataclasses import dataclass

from fedperm.errors import ParameterError
from fedperm.windows import Geometry

__all__ = ["COARSEST_GRID", "MANY_STEPS", "Rounds", "ShuffledLaplace"]

COARSEST_GRID = 16
"""The grid for which bounds on integer noise are computed. Noise lives on a grid of 1/N. A coarser
grid shows more, so bounds for 16 hold for every multiple of it."""

MANY_STEPS = 1 << 15
"""From so many grid steps b N on, integer and continuous noise agree to nine digits on any grid."""


@dataclass(frozen=True)
class ShuffledLaplace:
    """One round of one client: Laplace noise of scale b, then k2 patterns over k1 positions."""

    geometry: Geometry
    laplace_scale: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.laplace_scale) and self.laplace_scale > 0):
            raise ParameterError(
                f"the Laplace scale b is {self.laplace_scale}",
                "choose a positive scale; without noise there is no guarantee to count",
            )

    @property
    def epsilon_wd(self) -> float:
        """Pure epsilon of one parameter: 1/b."""
        return 1 / self.laplace_scale

    @property
    def epsilon_w(self) -> float:
        """Pure epsilon of one superwindow of w parameters, padding counted."""
        return self.geometry.superwindow * self.epsilon_wd


@dataclass(frozen=True)
class Rounds:
    """The same event, `count` times in turn."""

    event: ShuffledLaplace
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ParameterError(f"{self.count} rounds", "count at least 1 round")
