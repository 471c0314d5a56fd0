"""The law of the noise by its formula, and a chi-square test against it: oracles for the samplers.

Nothing here uses the samplers' own code, apart from the names of the law's parameters.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fedperm.noise.law import GridLaplace

FALSE_ALARM = 1e-6


def noise_law(law: GridLaplace, limit: int) -> NDArray[np.float64]:
    """P(noise = k) for k = -limit .. limit, the ends holding everything beyond them."""
    a = math.exp(-1 / (law.laplace_scale * law.grid))
    magnitudes = np.abs(np.arange(-limit, limit + 1))
    chances = np.exp(-magnitudes / (law.laplace_scale * law.grid)) * (1 - a) / (1 + a)
    chances[[0, -1]] /= 1 - a
    return chances


def exact_magnitudes(scale: Fraction, limit: int) -> list[Fraction]:
    """P(|noise| = m) for m = 0 .. limit, the last with everything beyond, to 2^-1000."""
    a = _rounded(1 / _exp(1 / scale))
    zero, power, between = (1 - a) / (1 + a), Fraction(1), []
    for _ in range(1, limit):
        power = _rounded(power * a)
        between.append(_rounded(2 * zero * power))
    return [zero, *between, 2 * power * a / (1 + a)]


def _exp(x: Fraction) -> Fraction:
    """Taylor's series, for x <= 10: the rest is then smaller than the last term."""
    term = total = Fraction(1)
    n = 0
    while term > Fraction(1, 1 << 1024):
        n += 1
        term = _rounded(term * x / n)
        total += term
    return total


def _rounded(x: Fraction) -> Fraction:
    """To 1024 binary places: exact fractions would grow beyond use."""
    return Fraction(int(x * (1 << 1024)), 1 << 1024)


def fit(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """The chi-square p-value; neighbours are pooled until 20 draws are expected in each bin."""
    starts = _bin_starts(chances * counts.sum(), 20)
    observed, predicted = (np.add.reduceat(each, starts) for each in (counts, chances))
    return float(stats.chisquare(observed, predicted / predicted.sum() * counts.sum()).pvalue)


def _bin_starts(expected: NDArray[np.float64], enough: float) -> list[int]:
    """Where bins begin, the last one taking what would be too little for one of its own."""
    starts, filled = [0], 0.0
    for position, here in enumerate(expected.tolist(), start=1):
        filled += here
        if filled >= enough:
            starts.append(position)
            filled = 0.0
    return starts[:-1]
