"""From epsilon_d to epsilon_l: what the shuffle of one round gains, as the paper draws it.

epsilon_d = d/b is the pure epsilon of the whole update, epsilon_l that of one superwindow per
pattern at delta_l. Bennett's inequality for Laplace noise, strong composition over k2.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from fedperm.errors import PreconditionError
from fedperm.privacy.calibration import guarantee
from fedperm.privacy.registry import NO_SHUFFLE, PAPER
from fedperm.windows import Geometry
from fedperm_cli.presets import PAPER_DELTA

POINTS = 120
SMALLEST_EPSILON_W, LARGEST_EPSILON_W = 0.02, 3.0
"""The largest is beyond the precondition of the paper's theorem for every k1 that is drawn."""


class Varied(StrEnum):
    """What differs between the curves of a picture."""

    K1 = "k1"
    K2 = "k2"
    D = "d"


@dataclass(frozen=True)
class Point:
    """One round at noise of scale b = d/epsilon_d."""

    epsilon_d: float
    epsilon_l: float
    permutation_known: float


@dataclass(frozen=True)
class Curve:
    """It ends where the theorem's precondition does."""

    varied: Varied
    k1: int
    k2: int
    d: int
    parameters: int
    """That epsilon_l protects: one superwindow per pattern."""
    points: tuple[Point, ...]

    @property
    def value(self) -> int:
        """Of what is varied."""
        return {Varied.K1: self.k1, Varied.K2: self.k2, Varied.D: self.d}[self.varied]


PLACES = (
    *((Varied.K1, Geometry(7850, k1, 1)) for k1 in (100, 200, 400, 800)),
    *((Varied.K2, Geometry(7850, 100, k2)) for k2 in (1, 5, 10)),
    *((Varied.D, Geometry(d, 100, 10)) for d in (1_000, 7_850, 100_000, 1_000_000)),
)


def amplification(varied: Varied, geometry: Geometry) -> Curve:
    epsilons_w = np.geomspace(SMALLEST_EPSILON_W, LARGEST_EPSILON_W, POINTS).tolist()
    points = (_point(geometry, epsilon_w) for epsilon_w in epsilons_w)
    return Curve(
        varied=varied,
        k1=geometry.k1,
        k2=geometry.k2,
        d=geometry.d,
        parameters=geometry.patterns * geometry.superwindow,
        points=tuple(point for point in points if point is not None),
    )


def _point(geometry: Geometry, epsilon_w: float) -> Point | None:
    """None where the paper's theorem says nothing."""
    epsilon_d = epsilon_w * geometry.k1 * geometry.k2
    scale = geometry.d / epsilon_d
    try:
        shuffled = guarantee(PAPER, geometry, 1, scale, PAPER_DELTA)
    except PreconditionError:
        return None
    known = guarantee(NO_SHUFFLE, geometry, 1, scale, PAPER_DELTA)
    return Point(epsilon_d, shuffled.epsilon, known.epsilon)
