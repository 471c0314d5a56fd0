"""The privacy blanket of a w-dimensional Laplace vector, evaluated numerically. Experimental.

Lemma 5.3 of Balle et al. for the whole vector, with inputs 0 and 1 in every coordinate (taken as
the worst pair: checked on small grids, not proved). Write R(0) = e^U m and R(1) = e^V m with
m = inf_x R(x), of total mass gamma = e^(-epsilon_w/2). A coordinate adds min(E, epsilon_1),
E ~ Exponential(1/2), to either U or V, each with probability 1/2 (under m/gamma), so that

    delta(eps) = E[(Z_1 + ... + Z_n)_+] / n,   Z = e^U - e^(eps + V) with probability gamma, else 0.

Rounding is by mean-preserving spreads of e^U and e^V: coordinates are independent, so the products
are spread too, and the result stays above the exact value. The same evaluation, for general
randomizers, is in Su, Cheng, Wang (arXiv:2504.07414).
"""

from dataclasses import dataclass
from math import ceil, exp, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from fedperm.errors import PreconditionError
from fedperm.privacy.lattice import mean_positive_part, spread

Array = NDArray[np.float64]

CELLS = 8  # lattice of one coordinate's log ratio, at most; see loss_distribution
LONGEST = 2000  # coordinates: more are not evaluated
POINTS = 160  # at most so many values of U, and of V
STEPS = 12  # lattice steps of Z in its root mean square, and
FINEST = 1 / 400  # no finer than this share of the largest Z
DEEPEST = 12  # Z below -12 e^epsilon_w is raised to it: the bound grows, and by next to nothing


@dataclass(frozen=True)
class LogRatios:
    """The joint law of (e^U, e^V) under m: `masses[i, j]` at (values[i], values[j])."""

    values: Array
    masses: Array


def second_moment(epsilon: float, epsilon_1: float, w: int) -> float:
    """E[L^2] of the w-dimensional vector under its blanket; for w = 1, that of Balle et al.

    It is at least w epsilon_1^2 / 2, which for tiny epsilon_1 the difference below would lose.
    """
    square = (2 * exp(epsilon_1 / 2) + exp(-epsilon_1)) / 3
    cross = 2 * exp(-epsilon_1 / 2) - exp(-epsilon_1)
    difference = (1 + exp(2 * epsilon)) * square**w - 2 * exp(epsilon) * cross**w
    return float(max(difference, w * epsilon_1**2 / 2))


def vector_blanket(epsilons: Array, epsilon_1: float, w: int, n: int) -> Array:
    """delta(eps) for all eps in 0 <= eps < w epsilon_1."""
    ratios = log_ratios(epsilon_1, w)
    gamma, largest = exp(-w * epsilon_1 / 2), ratios.values[-1]
    masses = np.append(ratios.masses.ravel(), 1 - gamma)
    deltas = []
    for epsilon in epsilons.tolist():
        differences = np.subtract.outer(ratios.values, exp(epsilon) * ratios.values)
        values = np.append(np.maximum(differences.ravel(), -DEEPEST * largest), 0.0)
        step = sqrt(second_moment(epsilon, epsilon_1, w)) / gamma / STEPS
        lattice = spread(values, masses, max(step, FINEST * largest))
        deltas.append(mean_positive_part(lattice, n) / n)
    return np.minimum(1, deltas)


def log_ratios(epsilon_1: float, w: int) -> LogRatios:
    """U is the sum of k coordinates' shares and V of the other w - k, k ~ Binomial(w, 1/2)."""
    if w > LONGEST:
        raise PreconditionError(
            f"the numeric blanket is evaluated for up to {LONGEST} parameters, not {w}",
            "shuffle more positions (k1) or patterns (k2), or choose another accountant",
        )
    cells = min(CELLS, ceil(512 / w))
    values = np.exp(np.arange(w * cells + 1) * epsilon_1 / cells)
    share = _one_coordinate(epsilon_1, cells)
    sums = np.zeros((w + 1, values.size))
    sums[0, 0] = 1
    for k in range(w):
        sums[k + 1] = np.convolve(sums[k], share)[: values.size]
    kept = np.unique(np.linspace(0, w * cells, min(POINTS, values.size)).astype(np.int64))
    sums = _coarser(sums, values, kept)
    weights = exp(-w * epsilon_1 / 2) * stats.binom.pmf(np.arange(w + 1), w, 0.5)
    return LogRatios(values[kept], (sums * weights[:, None]).T @ sums[::-1])


def _one_coordinate(epsilon_1: float, cells: int) -> Array:
    """min(E, epsilon_1) on a lattice, spread so that the mean of e^u is kept in every cell."""
    edges = np.arange(cells + 1) * epsilon_1 / cells
    inside = -np.diff(np.exp(-edges / 2))
    upper = (np.diff(np.exp(edges / 2)) - inside * np.exp(edges[:-1])) / np.diff(np.exp(edges))
    masses = np.zeros(cells + 1)
    masses[:-1] += inside - upper
    masses[1:] += upper
    masses[-1] += exp(-epsilon_1 / 2)
    return masses


def _coarser(sums: Array, values: Array, kept: NDArray[np.int64]) -> Array:
    """Every row spread over the kept values only, the mean of e^u kept."""
    right = np.clip(np.searchsorted(kept, np.arange(values.size)), 1, kept.size - 1)
    low, high = values[kept[right - 1]], values[kept[right]]
    share = (values - low) / (high - low)
    spreading = np.zeros((values.size, kept.size))
    rows = np.arange(values.size)
    spreading[rows, right] = share
    spreading[rows, right - 1] = 1 - share
    return np.asarray(sums @ spreading)
