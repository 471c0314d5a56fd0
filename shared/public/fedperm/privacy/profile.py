"""Privacy profiles: an upper bound of delta(eps) for one pattern of one round, at chosen losses.

Adjacency is "replace one superwindow", so one curve bounds both directions. For negative losses
delta(-eps) = 1 - e^(-eps) (1 - delta(eps)).
"""

from dataclasses import dataclass
from math import ceil, exp, sqrt

import numpy as np
from numpy.typing import NDArray

from fedperm.privacy.blanket import vector_second_moment
from fedperm.privacy.events import ShuffledLaplace

Array = NDArray[np.float64]
Marks = NDArray[np.int64]

DENSE = 24  # marks one step apart; beyond, every gap is GROWTH of the loss
GROWTH = 0.06
FLOOR = 1e-30  # smaller bounds are raised to it: subnormal masses would be unwieldy
STEPS = 6  # steps in the standard deviation of the loss, by the smallest of the bounds


@dataclass(frozen=True)
class LossGrid:
    """Losses marks * step, from 0 to epsilon_w exactly; the same for every bound of an event."""

    step: float
    marks: Marks

    @property
    def epsilons(self) -> Array:
        return np.asarray(self.step * self.marks, dtype=np.float64)


@dataclass(frozen=True)
class Profile:
    """The vertices of a convex decreasing bound of delta as a function of e^(marks * step)."""

    step: float
    marks: Marks
    deltas: Array


def loss_grid(event: ShuffledLaplace) -> LossGrid:
    w, n = event.geometry.superwindow, event.geometry.k1
    variance = vector_second_moment(0, event.epsilon_wd, w) / (exp(-event.epsilon_w / 2) * n)
    last = max(2 * DENSE, ceil(STEPS * event.epsilon_w / sqrt(variance)))
    marks = [*range(DENSE)]
    while marks[-1] < last:
        marks.append(min(last, marks[-1] + max(1, round(GROWTH * marks[-1]))))
    return LossGrid(event.epsilon_w / last, np.array(marks))


def pure_profile(grid: LossGrid, deltas: Array) -> Profile:
    """The greatest convex function of e^eps below the bounds `deltas` of an epsilon_w-DP release.

    The true profile is convex in e^eps, is 1 at e^eps = 0 and 0 from epsilon_w on; whatever bounds
    hold at the grid's losses, it stays below their convex minorant, at and between the losses.
    """
    deltas = np.append(np.clip(deltas, FLOOR, 1), 0.0)
    ratios = np.exp(grid.epsilons)
    mirrored = 1 - (1 - deltas[:0:-1]) / ratios[:0:-1]
    marks = np.concatenate((-grid.marks[:0:-1], grid.marks))
    heights = np.concatenate((mirrored, deltas))
    kept = _lower_hull(np.exp(grid.step * marks), heights)
    return Profile(grid.step, marks[kept], heights[kept])


def _lower_hull(x: Array, y: Array) -> Marks:
    """Indices of the lower convex hull of the points and (0, 1), by Andrew's monotone chain."""
    hull: list[tuple[float, float, int]] = [(0.0, 1.0, -1)]
    for index, (px, py) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        while len(hull) > 1 and _above_chord(hull[-2], hull[-1], px, py):
            hull.pop()
        hull.append((px, py, index))
    return np.array([index for _, _, index in hull[1:]])


def _above_chord(
    left: tuple[float, float, int], middle: tuple[float, float, int], px: float, py: float
) -> bool:
    rise = (middle[1] - left[1]) * (px - left[0])
    return rise >= (py - left[1]) * (middle[0] - left[0])
