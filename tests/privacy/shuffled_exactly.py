"""Oracles that share no code with the bounds: shuffled messages, exactly or by simulation."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import exp

import numpy as np
from numpy.typing import NDArray

Row = tuple[float, ...]
Law = dict[tuple[int, ...], float]


def laplace_outcomes(x: Sequence[float], b: float) -> Row:
    """Laplace noise on every coordinate of x, each reported as <= 0, <= 1/2, <= 1 or > 1."""

    def below(edge: float, centre: float) -> float:
        z = (edge - centre) / b
        return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2

    coordinates = []
    for centre in x:
        ends = [0.0, *(below(edge, centre) for edge in (0, 0.5, 1)), 1.0]
        coordinates.append([high - low for low, high in pairwise(ends)])
    return tuple(float(np.prod(cell)) for cell in product(*coordinates))


def shuffled(rows: Sequence[Row]) -> Law:
    """The law of the histogram of one message from each row: all that a shuffle leaves."""
    law: Law = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        grown: Law = defaultdict(float)
        for histogram, mass in law.items():
            for outcome, probability in enumerate(row):
                bumped = list(histogram)
                bumped[outcome] += 1
                grown[tuple(bumped)] += mass * probability
        law = grown
    return law


def hockey_stick(left: Law, right: Law, epsilon: float) -> float:
    keys = left.keys() | right.keys()
    return sum(max(0.0, left.get(k, 0) - exp(epsilon) * right.get(k, 0)) for k in keys)


def worst_case(inputs: Sequence[Row], n: int, epsilon: float) -> float:
    """The largest divergence over every pair of inputs and every choice of the other n - 1."""
    return max(
        hockey_stick(shuffled([x, *others]), shuffled([y, *others]), epsilon)
        for x, y, others in _cases(inputs, n)
    )


def _cases(inputs: Sequence[Row], n: int) -> Iterator[tuple[Row, Row, tuple[Row, ...]]]:
    for x, y in permutations(inputs, 2):
        for others in combinations_with_replacement(inputs, n - 1):
            yield x, y, others


@dataclass(frozen=True)
class Estimate:
    mean: float
    standard_error: float

    def surely_above(self, value: float) -> bool:
        """Six standard errors: wrong about once in 10^9 for a mean of this many bounded terms."""
        return self.mean - 6 * self.standard_error > value


@cache
def simulated(
    b: float, w: int, n: int, epsilon: float, others: float, draws: int = 100_000
) -> Estimate:
    """delta(eps) of n shuffled Laplace vectors in R^w: one at 0 or at 1, the rest at `others`.

    The likelihood ratio of a shuffled draw sums over which message was the one; with all others
    alike it is sum_i R(0)/R(others)(y_i) over sum_i R(1)/R(others)(y_i).
    """
    generator = np.random.default_rng(20240229)
    centres = np.full((n, 1), others)
    centres[0] = 0.0
    messages = generator.laplace(centres, b, size=(draws, n, w))

    def likelihood(x: float) -> NDArray[np.float64]:
        nearer = np.abs(messages - others) - np.abs(messages - x)
        return np.asarray(np.exp(nearer.sum(axis=2) / b).sum(axis=1))

    excess = np.maximum(0, 1 - exp(epsilon) * likelihood(1.0) / likelihood(0.0))
    return Estimate(float(excess.mean()), float(excess.std() / draws**0.5))
