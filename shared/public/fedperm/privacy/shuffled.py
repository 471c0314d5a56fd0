"""Accountants that bound one pattern of one round and compose all T*k2 of them tightly.

The way from a bound to an epsilon, in the order of this module:

1. bounds: upper bounds of delta(eps) for one pattern of one round, at losses below epsilon_w. Each
   is capped by the unshuffled vector's, since shuffling is post-processing. Where two published
   bounds cross, the smaller is a bound too.
2. `loss_grid` and `pure_profile`: the losses at which they are taken, and the convex curve below
   them.
3. `composed_epsilon`: T*k2 such curves composed as privacy loss distributions.

Adjacency is "replace one superwindow", so one curve bounds both directions. For negative losses
delta(-eps) = 1 - e^(-eps) (1 - delta(eps)).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, exp, sqrt

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # type: ignore[import-untyped]
from numpy.typing import NDArray

from fedperm.privacy.accountant import Guarantee, require_known, smallest
from fedperm.privacy.blanket import (
    bennett,
    integer_laplace_facts,
    vector_blanket,
    vector_second_moment,
)
from fedperm.privacy.clones import stronger_clones, variation_ratio
from fedperm.privacy.events import COARSEST_GRID, Rounds, ShuffledLaplace
from fedperm.privacy.unshuffled import UnshuffledAccountant

Array = NDArray[np.float64]
Marks = NDArray[np.int64]

# Beyond, no shuffle of fewer than e^24 positions helps; below, e^epsilon_w - 1 loses its digits.
# The permutation is then taken as known, which is a bound for every shuffle.
MIN_EPSILON_W, MAX_EPSILON_W = 1e-6, 24

# One coordinate's loss lies in [-1/b, 1/b]; "Connect the Dots" at 1/(8 b) is exactly the profile of
# integer Laplace noise of scale 16 b on the grid {0..16}, and above that of every grid {0..16 m}.
CELLS = COARSEST_GRID // 2

DENSE = 24  # marks one step apart; beyond, every gap is GROWTH of the loss
GROWTH = 0.06
MIN_DELTA = 1e-30  # smaller bounds are raised to it: subnormal masses would be unwieldy
STEPS = 6  # steps in the standard deviation of the loss, by the smallest of the bounds

TOLERANCE = 1e-7
MIN_SHARE = 1e-9  # of the pure epsilon: no smaller one is told from zero


@dataclass(frozen=True)
class ShuffledAccountant:
    """A bound of delta(eps) per pattern-round, composed T*k2 times."""

    name: str
    bound: str
    deltas: Callable[[ShuffledLaplace, Array], Array] = field(repr=False)
    experimental: bool = False
    published: bool = True
    reproduction_only: bool = field(default=False, init=False)

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        if not MIN_EPSILON_W <= rounds.event.epsilon_w <= MAX_EPSILON_W:
            known = UnshuffledAccountant().guarantee(rounds, delta)
            return replace(known, accountant=self.name, experimental=self.experimental)
        grid = loss_grid(rounds.event)
        deltas = self.deltas(rounds.event, grid.epsilons[:-1])
        times = rounds.event.geometry.patterns * rounds.count
        epsilon = composed_epsilon(pure_profile(grid, deltas), times, delta)
        return Guarantee(epsilon, delta, self.name, self.bound, self.experimental)


def by_bennett(event: ShuffledLaplace, epsilons: Array) -> Array:
    """Balle et al. for 1-D Laplace of epsilon_w; Bennett's inequality says nothing at eps = 0.

    For a vector of w coordinates gamma and the largest L are those of one coordinate of epsilon_w,
    and its second moment is at most that one's, so the 1-D bound holds for it. With A and B the
    `square` and `cross` of `vector_second_moment` as functions of epsilon, log A is convex (a
    log-sum-exp), log B is concave, and both are 0 at 0: A(epsilon_1)^w <= A(w epsilon_1) and
    B(epsilon_1)^w >= B(w epsilon_1). That is continuous noise; for integer noise it is tested.
    """
    k1 = event.geometry.k1
    shuffled = [
        bennett(integer_laplace_facts(epsilon, event.epsilon_w), epsilon, k1)
        if epsilon > 0
        else 1.0
        for epsilon in epsilons.tolist()
    ]
    return np.minimum(shuffled, _unshuffled(event, epsilons))


def by_clones(event: ShuffledLaplace, epsilons: Array) -> Array:
    """A superwindow's noise is independent of all others' and epsilon_w-LDP: see clones."""
    clones = stronger_clones(epsilons, event.epsilon_w, event.geometry.k1)
    return np.minimum(clones, by_bennett(event, epsilons))


def by_variation_ratio(event: ShuffledLaplace, epsilons: Array) -> Array:
    """beta is the total variation of all 0 and all 1: no two inputs in [0, 1]^w show more."""
    total_variation = float(_unshuffled(event, np.zeros(1))[0])
    ratio = variation_ratio(epsilons, event.epsilon_w, total_variation, event.geometry.k1)
    return np.minimum(ratio, by_clones(event, epsilons))


def by_vector_blanket(event: ShuffledLaplace, epsilons: Array) -> Array:
    w, k1 = event.geometry.superwindow, event.geometry.k1
    blanket = vector_blanket(epsilons, event.epsilon_wd, w, k1)
    return np.minimum(blanket, _unshuffled(event, epsilons))


def _unshuffled(event: ShuffledLaplace, epsilons: Array) -> Array:
    return laplace_vector_deltas(event.laplace_scale, event.geometry.superwindow, epsilons)


def laplace_vector_deltas(scale: float, w: int, epsilons: Array) -> Array:
    """delta(eps) of w coordinates, all shifted by 1, unshuffled; at eps = 0 the total variation."""
    one = privacy_loss_distribution.from_laplace_mechanism(
        scale, value_discretization_interval=1 / (scale * CELLS)
    )
    deltas = one.self_compose(w).get_delta_for_epsilon(epsilons)
    return np.clip(np.asarray(deltas, dtype=np.float64), 0, 1)


@dataclass(frozen=True)
class LossGrid:
    """Losses marks * step, from 0 to epsilon_w exactly; the same for every bound of an event."""

    step: float
    marks: Marks

    @property
    def epsilons(self) -> Array:
        return np.asarray(self.step * self.marks, dtype=np.float64)


def loss_grid(event: ShuffledLaplace) -> LossGrid:
    w, n = event.geometry.superwindow, event.geometry.k1
    variance = vector_second_moment(0, event.epsilon_wd, w) / (exp(-event.epsilon_w / 2) * n)
    last = max(2 * DENSE, ceil(STEPS * event.epsilon_w / sqrt(variance)))
    marks = [*range(DENSE)]
    while marks[-1] < last:
        marks.append(min(last, marks[-1] + max(1, round(GROWTH * marks[-1]))))
    return LossGrid(event.epsilon_w / last, np.array(marks))


@dataclass(frozen=True)
class Profile:
    """The vertices of a convex decreasing bound of delta as a function of e^(marks * step)."""

    step: float
    marks: Marks
    deltas: Array


def pure_profile(grid: LossGrid, deltas: Array) -> Profile:
    """The greatest convex function of e^eps below the bounds `deltas` of an epsilon_w-DP release.

    The true profile is the largest E_Q[(dP/dQ - e^eps)_+] over all pairs P, Q. So it is convex in
    e^eps, is 1 at e^eps = 0 and 0 from epsilon_w on; whatever bounds hold at the grid's losses, it
    stays below their convex minorant, at and between the losses.
    """
    deltas = np.append(np.clip(deltas, MIN_DELTA, 1), 0.0)
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
        while len(hull) > 1:
            (left_x, left_y, _), (middle_x, middle_y, _) = hull[-2:]
            rise = (middle_y - left_y) * (px - left_x)
            is_above_chord = rise >= (py - left_y) * (middle_x - left_x)
            if not is_above_chord:
                break
            hull.pop()
        hull.append((px, py, index))
    return np.array([index for _, _, index in hull[1:]])


def composed_epsilon(profile: Profile, times: int, delta: float) -> float:
    """The smallest eps, within TOLERANCE, of `times` releases; at most their pure sum.

    "Connect the Dots" (Doroshenko et al., PETS 2022) on the profile's vertices is exact: its
    distribution has the given deltas at the vertices, and a profile linear in e^eps between them.

    A profile that is convex in e^eps is that of a pair of distributions; the pair dominates the
    mechanism, and composing dominating pairs dominates adaptive composition (Zhu, Dong, Wang,
    "Optimal Accounting of Differential Privacy via Characteristic Function", AISTATS 2022,
    arXiv:2106.08567). A release may depend on what earlier ones showed, but the profile of each
    must be fixed beforehand. dp_accounting composes pessimistically.
    """
    one = pld_pmf.create_pmf_pessimistic_connect_dots(
        profile.step, profile.marks, profile.deltas
    ).to_dense_pmf()
    composed = one.self_compose(times)

    def holds(epsilon: float) -> bool:
        return float(composed.get_delta_for_epsilon(epsilon)) <= delta

    pure = times * profile.step * int(profile.marks[-1])
    return 0.0 if holds(0.0) else smallest(holds, pure * MIN_SHARE, pure, TOLERANCE)
