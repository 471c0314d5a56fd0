"""The "stronger clones" of Feldman, McMillan, Talwar (SODA 2023, arXiv:2208.04591), exactly.

With p = e^epsilon_0, what n shuffled messages of any epsilon_0-LDP randomizer show of one of them
is at most what (A + D, C - A + 1 - D) shows of D, where C ~ Binomial(n-1, 2/(p+1)),
A ~ Binomial(C, 1/2), and D ~ Bernoulli(p/(p+1)) or Bernoulli(1/(p+1)). (variation_ratio.py has
a proof: this is its largest case.)

With a zeros among the c + 1 clones the likelihood ratio is (p a + b)/(a + p b), b = c + 1 - a:
it grows with a, so the hockey-stick divergence is a binomial tail for every c.
"""

from math import ceil, exp, floor, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

Array = NDArray[np.float64]

TAIL = 1e-16


def stronger_clones(epsilons: Array, epsilon_0: float, n: int) -> Array:
    """delta(eps) for all eps in 0 <= eps < epsilon_0 at once."""
    p = exp(epsilon_0)
    counts = _likely_counts(n - 1, 2 / (p + 1))
    weights = np.asarray(stats.binom.pmf(counts, n - 1, 2 / (p + 1)), dtype=np.float64)
    divergences = _divergence(np.exp(epsilons)[:, None], p, counts[None, :])
    return np.minimum(1, divergences @ weights + 2 * TAIL)


def _likely_counts(trials: int, probability: float) -> Array:
    """Counts outside of which, on either side, a binomial falls with probability < TAIL.

    Hoeffding's inequality: P(|C - mean| > t) on one side is at most e^(-2 t^2 / trials).
    """
    reach = sqrt(trials * log(1 / TAIL) / 2)
    mean = trials * probability
    return np.arange(max(0, floor(mean - reach)), min(trials, ceil(mean + reach)) + 1.0)


def _divergence(ratio: Array, p: float, clones: Array) -> Array:
    """Hockey-stick divergence at e^eps = ratio, given the number of clones c."""
    # (p a + b)/(a + p b) > ratio  <=>  a > (c + 1)(p ratio - 1)/((p - 1)(1 + ratio))
    threshold = np.floor((clones + 1) * (p * ratio - 1) / ((p - 1) * (1 + ratio)))
    if_zero = stats.binom.sf(threshold - 1, clones, 0.5)
    if_one = stats.binom.sf(threshold, clones, 0.5)
    excess = p * if_zero + if_one - ratio * (if_zero + p * if_one)
    return np.maximum(0, np.asarray(excess, dtype=np.float64)) / (p + 1)
