"""Amplification from (p, beta): the largest ratio and the largest total variation of two inputs.

The parameters are those of the variation-ratio reduction of Wang et al. (arXiv:2304.05007),
p = q = e^epsilon_0 and beta = TV(R(x), R(x')). With a = beta/(p-1) and s = 1 - a(p+1),

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

The law of X grows with beta in convex order, so an upper bound of beta will do, and the largest
possible, (p-1)/(p+1), gives "stronger clones". For the mean of X, 1 - e^eps, does not depend on a;
E[(X - t)_+] = a (p - e^eps - t)_+ for t >= 0; and for t = -p u < 0, with h = e^eps - u,
E[(t - X)_+] = a (p h - 1)_+ if h < 1, else (h - 1) + a (p - h): all of them grow with a.
"""

from math import exp

import numpy as np
from numpy.typing import NDArray

from fedperm.privacy.lattice import mean_positive_part, spread

Array = NDArray[np.float64]

STEPS = 24  # lattice steps in p - 1, the largest X at eps = 0
DEEPEST = 12  # X below -12 (p - 1) is raised to it: the bound grows, and by next to nothing


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
