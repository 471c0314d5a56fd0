"""Amplification by shuffling through clones: every message may look as if it were the victim's.

Preconditions: R is epsilon_0-LDP, p = e^epsilon_0, and n independent messages of the same R are
shuffled. Two inputs x and x' of one message are compared, the inputs of the others being fixed: no
message depends on another one.

Decomposition. beta = TV(R(x), R(x')), and (p, beta) are the parameters of the variation-ratio
reduction of Wang et al. (arXiv:2304.05007). With a = beta/(p-1) and s = 1 - a(p+1),

    R(x)  = p a Q0 +   a Q1 + s Q2,      Q0 = (R(x) - R(x'))_+ / beta,
    R(x') =   a Q0 + p a Q1 + s Q2,      Q1 = (R(x') - R(x))_+ / beta,

and every other message has R(y) >= max(R(x), R(x'))/p = a Q0 + a Q1 + (s/p) Q2.

The published evaluation (github.com/wangsw/PrivacyAmplification) counts zeros and ones only, as if
everything else in another message looked like Q2. It need not, and that count can be exceeded
(tests/privacy/test_counterexample.py). Here the rest of every other message is given away, so the
reduction is a plain post-processing:

    delta(eps) = E[(X_1 + ... + X_n)_+] / n,   X = p - e^eps       with probability a,
                                               X = 1 - p e^eps     with probability a,
                                               X = p (1 - e^eps)   with probability s/p, else 0.

This is `variation_ratio`.

The law of X grows with beta in convex order, so an upper bound of beta will do. For the mean of X,
1 - e^eps, does not depend on a; E[(X - t)_+] = a (p - e^eps - t)_+ for t >= 0; and for
t = -p u < 0, with h = e^eps - u, E[(t - X)_+] = a (p h - 1)_+ if h < 1, else (h - 1) + a (p - h):
all of them grow with a. The largest possible beta, (p-1)/(p+1), serves every randomizer. There
s = 0, and the result is the "stronger clones" of Feldman, McMillan, Talwar (SODA 2023,
arXiv:2208.04591): `stronger_clones`.

An erratum in arXiv:2208.04591 limits that paper's general theorems (3.1 and 3.2, by Lemma 3.5),
which were stated for adaptive randomizers, to a class of randomizers. Nothing here rests on Lemma
3.5: under the preconditions above, the argument of this docstring holds for every epsilon_0-LDP R.
"""

from math import ceil, exp, floor, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from fedperm.privacy.lattice import mean_positive_part, spread

Array = NDArray[np.float64]

TAIL = 1e-16  # of the number of clones, on either side
STEPS = 24  # lattice steps in p - 1, the largest X at eps = 0
DEEPEST = 12  # X below -12 (p - 1) is raised to it: the bound grows, and by next to nothing


def stronger_clones(epsilons: Array, epsilon_0: float, n: int) -> Array:
    """delta(eps) for all eps in 0 <= eps < epsilon_0 at once, exactly.

    What n shuffled messages of any epsilon_0-LDP randomizer show of one of them is at most what
    (A + D, C - A + 1 - D) shows of D, where C ~ Binomial(n-1, 2/(p+1)), A ~ Binomial(C, 1/2), and
    D ~ Bernoulli(p/(p+1)) or Bernoulli(1/(p+1)).

    With a zeros among the c + 1 clones the likelihood ratio is (p a + b)/(a + p b), b = c + 1 - a:
    it grows with a, so the hockey-stick divergence is a binomial tail for every c.
    """
    p = exp(epsilon_0)
    chance = 2 / (p + 1)
    # Hoeffding's inequality: on either side, C is farther than `reach` from its mean with a
    # probability of at most e^(-2 reach^2 / (n-1)) = TAIL. Counts beyond are charged as 2 TAIL.
    mean, reach = (n - 1) * chance, sqrt((n - 1) * log(1 / TAIL) / 2)
    counts = np.arange(max(0, floor(mean - reach)), min(n - 1, ceil(mean + reach)) + 1.0)
    weights = np.asarray(stats.binom.pmf(counts, n - 1, chance), dtype=np.float64)
    divergences = _divergence(np.exp(epsilons)[:, None], p, counts[None, :])
    return np.minimum(1, divergences @ weights + 2 * TAIL)


def _divergence(ratio: Array, p: float, clones: Array) -> Array:
    """Hockey-stick divergence at e^eps = ratio, given the number of clones c."""
    # (p a + b)/(a + p b) > ratio  <=>  a > (c + 1)(p ratio - 1)/((p - 1)(1 + ratio))
    threshold = np.floor((clones + 1) * (p * ratio - 1) / ((p - 1) * (1 + ratio)))
    if_zero = stats.binom.sf(threshold - 1, clones, 0.5)
    if_one = stats.binom.sf(threshold, clones, 0.5)
    excess = p * if_zero + if_one - ratio * (if_zero + p * if_one)
    return np.maximum(0, np.asarray(excess, dtype=np.float64)) / (p + 1)


def variation_ratio(epsilons: Array, epsilon_0: float, beta: float, n: int) -> Array:
    """delta(eps) for all eps in 0 <= eps < epsilon_0."""
    p = exp(epsilon_0)
    a = min(beta / (p - 1), 1 / (p + 1))
    deltas = [_mean_sum(float(ratio), p, a, n) / n for ratio in np.exp(epsilons)]
    return np.minimum(1, deltas)


def _mean_sum(ratio: float, p: float, a: float, n: int) -> float:
    rest = (1 - a * (p + 1)) / p
    values = np.array([p - ratio, 1 - p * ratio, p * (1 - ratio), 0])
    masses = np.array([a, a, rest, 1 - 2 * a - rest])
    step = (p - ratio) / max(1, round(STEPS * (p - ratio) / (p - 1)))
    return mean_positive_part(spread(np.maximum(values, -DEEPEST * (p - 1)), masses, step), n)
