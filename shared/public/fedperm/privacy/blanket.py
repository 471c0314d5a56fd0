"""The privacy blanket of Balle, Bell, Gascón, Nissim (CRYPTO 2019, arXiv:1903.02837).

n messages of an epsilon_0-LDP randomizer R are shuffled. Each is, with probability gamma, drawn
from the blanket omega = inf_x R(x) / gamma, which says nothing. With L = (R(x) - e^eps R(x'))/omega
at a point of omega, Lemma 5.3 is

    delta(eps) <= E[ (L_1 + ... + L_m)_+ ] / (gamma n),   m ~ Binomial(n, gamma).

It needs eps >= 0 and the same R for all messages; one input is replaced, the others are fixed.

It is evaluated in two ways. The concentration bounds `hoeffding` and `bennett` need only gamma, the
largest L, its range and its second moment (`BlanketFacts`). `vector_blanket` evaluates the
expectation numerically for a w-dimensional Laplace vector; it is experimental.
"""

from dataclasses import dataclass, replace
from math import ceil, exp, expm1, log1p, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from fedperm.errors import PreconditionError
from fedperm.privacy.events import COARSEST_GRID
from fedperm.privacy.lattice import mean_positive_part, spread

Array = NDArray[np.float64]

# Of the numeric evaluation:
CELLS = COARSEST_GRID // 2  # lattice of one coordinate's log ratio, at most; see shuffled.CELLS
MAX_COORDINATES = 2000  # more are not evaluated
MAX_POINTS = 160  # at most so many values of U, and of V
STEPS = 12  # lattice steps of Z in its root mean square, and
FINEST = 1 / 400  # no finer than this share of the largest Z
DEEPEST = 12  # Z below -12 e^epsilon_w is raised to it: the bound grows, and by next to nothing


@dataclass(frozen=True)
class BlanketFacts:
    """What the bounds know of a randomizer at one eps: L and its blanket probability gamma."""

    gamma: float
    largest: float
    spread: float
    second_moment: float


def laplace_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """1-D Laplace on inputs in [0, 1] (Section 5.3): gamma = e^(-epsilon_0/2), all four exact.

    For eps < epsilon_0: from there on the largest L is not positive, and delta is 0.
    """
    half, full = exp(epsilon_0 / 2), exp(-epsilon_0)
    return BlanketFacts(
        gamma=1 / half,
        largest=-half * expm1(epsilon - epsilon_0),
        spread=(exp(epsilon) + 1) * (half - 1 / half),
        second_moment=(exp(2 * epsilon) + 1) * (2 * half + full) / 3
        - 2 * exp(epsilon) * (2 / half - full),
    )


def integer_laplace_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """The same for integer noise on the coarsest grid: only the second moment differs.

    Under the blanket the larger of the two log ratios is 2 j epsilon_0/N with probability
    proportional to q^j, q = e^(-epsilon_0/N), all j from N/2 on together; the other one is 0.
    """
    q = exp(-epsilon_0 / COARSEST_GRID)
    tops = [exp(2 * j * epsilon_0 / COARSEST_GRID) for j in range(COARSEST_GRID // 2 + 1)]
    masses = [(1 - q) / (1 + q) * q**j * (2 if j else 1) for j in range(COARSEST_GRID // 2)]
    masses.append(2 * q ** (COARSEST_GRID // 2) / (1 + q))
    mean = sum(mass * top for mass, top in zip(masses, tops, strict=True))
    square = sum(mass * top * top for mass, top in zip(masses, tops, strict=True))
    moment = (exp(2 * epsilon) + 1) * (1 + square) / 2 - 2 * exp(epsilon) * mean
    return replace(laplace_facts(epsilon, epsilon_0), second_moment=exp(-epsilon_0) * moment)


def generic_facts(epsilon: float, epsilon_0: float) -> BlanketFacts:
    """Any epsilon_0-LDP randomizer (Lemma 5.2): e^(-epsilon_0) <= gamma <= 1.

    The bounds fall as gamma grows and rise with the other three, so each is taken at its worst end.
    """
    grow = exp(epsilon_0)
    return BlanketFacts(
        gamma=1 / grow,
        largest=-grow * expm1(epsilon - 2 * epsilon_0),
        spread=(exp(epsilon) + 1) * (grow - 1 / grow),
        second_moment=grow * (exp(2 * epsilon) + 1) - 2 * exp(epsilon - 3 * epsilon_0),
    )


def hoeffding(facts: BlanketFacts, epsilon: float, n: int) -> float:
    """Hoeffding: E[(sum)_+] <= spread^2/(4 a) e^(-2 m a^2/spread^2), averaged over m; for eps > 0.

    a = -E[L] = e^eps - 1. Hoeffding's inequality (Boucheron, Lugosi, Massart, "Concentration
    Inequalities", 2013, Theorem 2.8) bounds P(sum > t) by e^(-2 (m a + t)^2 / (m spread^2)), which
    is at most e^(-2 m a^2/spread^2) e^(-4 a t/spread^2), to be integrated over t >= 0. The mean
    over m ~ Binomial(n, gamma) of z^m is (1 - gamma + gamma z)^n.
    """
    a = expm1(epsilon)
    exponent = expm1(-2 * (a / facts.spread) ** 2)
    return facts.spread**2 / (4 * a * facts.gamma * n) * exp(n * log1p(facts.gamma * exponent))


def bennett(facts: BlanketFacts, epsilon: float, n: int) -> float:
    """Bennett: E[(sum)_+] <= (b/log(1+u)) e^(-m c phi(u)/b^2), u = a b/c, averaged over m >= 1.

    a = -E[L] = e^eps - 1, b is the largest L, c its second moment, phi(u) = (1+u) log(1+u) - u; for
    eps > 0 and b > 0. Bennett's inequality (Boucheron, Lugosi, Massart 2013, Theorem 2.9) asks only
    that L <= b and E[L^2] <= c, not centred; phi is convex, so phi(u + t b/(m c)) is at least
    phi(u) + t b/(m c) log(1+u), and the bound of P(sum > t) is integrated over t >= 0.
    """
    a, b, c = expm1(epsilon), facts.largest, facts.second_moment
    u = a * b / c
    phi = max(0.0, (1 + u) * log1p(u) - u)
    z = exp(-c / b**2 * phi)
    mean = exp(n * log1p(facts.gamma * (z - 1))) - exp(n * log1p(-facts.gamma))
    return b / log1p(u) * mean / (facts.gamma * n)


def vector_second_moment(epsilon: float, epsilon_1: float, w: int) -> float:
    """E[L^2] of the w-dimensional vector under its blanket; for w = 1, that of Balle et al.

    Coordinates are independent, so both moments of the log ratios are w-th powers of one's.
    It is at least w epsilon_1^2 / 2, which for tiny epsilon_1 the difference below would lose.
    """
    square = (2 * exp(epsilon_1 / 2) + exp(-epsilon_1)) / 3
    cross = 2 * exp(-epsilon_1 / 2) - exp(-epsilon_1)
    difference = (1 + exp(2 * epsilon)) * square**w - 2 * exp(epsilon) * cross**w
    return float(max(difference, w * epsilon_1**2 / 2))


def vector_blanket(epsilons: Array, epsilon_1: float, w: int, n: int) -> Array:
    """delta(eps) of a w-dimensional Laplace vector for all eps in 0 <= eps < w epsilon_1.

    Lemma 5.3 for the whole vector, with inputs 0 and 1 in every coordinate (taken as the worst
    pair: checked on small grids, not proved). Write R(0) = e^U m and R(1) = e^V m with
    m = inf_x R(x), of total mass gamma = e^(-epsilon_w/2). A coordinate adds min(E, epsilon_1),
    E ~ Exponential(1/2), to either U or V, each with probability 1/2 (under m/gamma), so that

        delta(eps) = E[(Z_1 + ... + Z_n)_+] / n,
        Z = e^U - e^(eps + V) with probability gamma, else 0.

    Rounding is by mean-preserving spreads of e^U and e^V: coordinates are independent, so the
    products are spread too, and the result stays above the exact value. The same evaluation, for
    general randomizers, is in Su, Cheng, Wang (arXiv:2504.07414).
    """
    ratios = log_ratios(epsilon_1, w)
    gamma, largest = exp(-w * epsilon_1 / 2), ratios.values[-1]
    masses = np.append(ratios.masses.ravel(), 1 - gamma)
    deltas = []
    for epsilon in epsilons.tolist():
        differences = np.subtract.outer(ratios.values, exp(epsilon) * ratios.values)
        values = np.append(np.maximum(differences.ravel(), -DEEPEST * largest), 0.0)
        step = sqrt(vector_second_moment(epsilon, epsilon_1, w)) / gamma / STEPS
        lattice = spread(values, masses, max(step, FINEST * largest))
        deltas.append(mean_positive_part(lattice, n) / n)
    return np.minimum(1, deltas)


@dataclass(frozen=True)
class LogRatios:
    """The joint law of (e^U, e^V) under m: `masses[i, j]` at (values[i], values[j])."""

    values: Array
    masses: Array


def log_ratios(epsilon_1: float, w: int) -> LogRatios:
    """U is the sum of k coordinates' shares and V of the other w - k, k ~ Binomial(w, 1/2)."""
    if w > MAX_COORDINATES:
        raise PreconditionError(
            f"the numeric blanket is evaluated for up to {MAX_COORDINATES} parameters, not {w}",
            "shuffle more positions (k1) or patterns (k2), or choose another accountant",
        )
    cells = min(CELLS, ceil(512 / w))
    values = np.exp(np.arange(w * cells + 1) * epsilon_1 / cells)
    share = _one_coordinate(epsilon_1, cells)
    sums = np.zeros((w + 1, values.size))
    sums[0, 0] = 1
    for k in range(w):
        sums[k + 1] = np.convolve(sums[k], share)[: values.size]
    kept = np.unique(np.linspace(0, w * cells, min(MAX_POINTS, values.size)).astype(np.int64))
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
