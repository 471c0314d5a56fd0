"""No bound may be below what a small shuffle really shows: exactly, and by simulation.

A bound that claimed more messages than there are must be caught: otherwise the comparison could
never fail.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from fedperm.privacy import shuffled
from fedperm.privacy.blanket import bennett, generic_facts, hoeffding, laplace_facts, vector_blanket
from fedperm.privacy.clones import stronger_clones, variation_ratio
from fedperm.privacy.events import ShuffledLaplace
from fedperm.privacy.shuffled import laplace_vector_deltas
from fedperm.windows import Geometry
from tests.privacy.shuffled_exactly import Row, laplace_outcomes, simulated, worst_case

Deltas = Callable[[ShuffledLaplace, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Family:
    """delta(eps) of n shuffled Laplace vectors of w coordinates, by one bound."""

    name: str
    delta: Callable[[float, float, int, int], float]
    overclaim: int  # with so many times the messages the bound must be seen to fail


def by_variation_ratio(epsilon: float, b: float, w: int, n: int) -> float:
    beta = float(laplace_vector_deltas(b, w, np.zeros(1))[0])
    return float(variation_ratio(np.array([epsilon]), w / b, beta, n)[0])


def shipped(deltas: Deltas) -> Callable[[float, float, int, int], float]:
    """The curve that an accountant composes, for one pattern of n positions with w windows."""

    def delta(epsilon: float, b: float, w: int, n: int) -> float:
        event = ShuffledLaplace(Geometry(d=w * n, k1=n, k2=1), b)
        return float(deltas(event, np.array([epsilon]))[0])

    return delta


FAMILIES = [
    Family("bennett", lambda e, b, w, n: bennett(laplace_facts(e, w / b), e, n), 500),
    Family("hoeffding", lambda e, b, w, n: hoeffding(laplace_facts(e, w / b), e, n), 500),
    Family("bennett-generic", lambda e, b, w, n: bennett(generic_facts(e, w / b), e, n), 5000),
    Family("hoeffding-generic", lambda e, b, w, n: hoeffding(generic_facts(e, w / b), e, n), 5000),
    Family("clones", lambda e, b, w, n: float(stronger_clones(np.array([e]), w / b, n)[0]), 12),
    Family("variation-ratio", by_variation_ratio, 6),
    Family("shipped bennett-pld", shipped(shuffled.by_bennett), 500),
    Family("shipped clones-pld", shipped(shuffled.by_clones), 12),
    Family("shipped variation-ratio-pld", shipped(shuffled.by_variation_ratio), 6),
    Family("blanket", lambda e, b, w, n: float(vector_blanket(np.array([e]), 1 / b, w, n)[0]), 5),
]

every_family = pytest.mark.parametrize("family", FAMILIES, ids=[f.name for f in FAMILIES])


@dataclass(frozen=True)
class Small:
    """n vectors of w coordinates, each coordinate's input on a small grid."""

    w: int
    b: float
    n: int
    grid: tuple[float, ...]

    @property
    def inputs(self) -> list[Row]:
        return [laplace_outcomes(x, self.b) for x in product(self.grid, repeat=self.w)]


CASES = [
    Small(w=1, b=1.0, n=4, grid=(0, 0.5, 1)),
    Small(w=1, b=0.5, n=5, grid=(0, 0.5, 1)),
    Small(w=2, b=2.0, n=2, grid=(0, 0.5, 1)),
    Small(w=2, b=1.0, n=3, grid=(0, 1)),
]
EPSILONS = (0.05, 0.3, 0.8)


@pytest.fixture(scope="module")
def truths() -> dict[tuple[Small, float], float]:
    """The worst pair of inputs and the worst company, by trying them all."""
    return {
        (case, epsilon): worst_case(case.inputs, case.n, epsilon)
        for case in CASES
        for epsilon in EPSILONS
    }


@every_family
def test_no_worst_case_exceeds_the_bound(
    family: Family, truths: dict[tuple[Small, float], float]
) -> None:
    for (case, epsilon), truth in truths.items():
        assert truth <= family.delta(epsilon, case.b, case.w, case.n)


@every_family
def test_an_overclaimed_bound_is_caught(
    family: Family, truths: dict[tuple[Small, float], float]
) -> None:
    assert any(
        truth > family.delta(epsilon, case.b, case.w, case.n * family.overclaim)
        for (case, epsilon), truth in truths.items()
    )


SIMULATIONS = [(1, 1.0, 40, 0.2), (3, 2.0, 40, 0.2), (3, 3.0, 25, 0.1)]


@every_family
@pytest.mark.parametrize(("w", "b", "n", "epsilon"), SIMULATIONS)
@pytest.mark.parametrize("others", [0.0, 0.5, 1.0])
def test_no_simulation_exceeds_the_bound(
    family: Family, w: int, b: float, n: int, epsilon: float, others: float
) -> None:
    """A seeded draw; with another seed, a valid bound would fail less than once in 10^8 runs."""
    estimate = simulated(b, w, n, epsilon, others)
    assert not estimate.surely_above(family.delta(epsilon, b, w, n))


@every_family
def test_a_simulation_catches_an_overclaimed_bound(family: Family) -> None:
    w, b, n, epsilon = SIMULATIONS[0]
    estimate = simulated(b, w, n, epsilon, others=0.0)
    assert estimate.surely_above(family.delta(epsilon, b, w, n * family.overclaim))


def test_the_blanket_of_a_vector_comes_close_to_the_truth() -> None:
    """Valid and sharp: within a factor 2 of what the simulation shows, where clones are not."""
    w, b, n, epsilon = 3, 3.0, 25, 0.1
    seen = simulated(b, w, n, epsilon, others=0.0).mean
    assert vector_blanket(np.array([epsilon]), 1 / b, w, n)[0] < 2 * seen
    assert stronger_clones(np.array([epsilon]), w / b, n)[0] > 2 * seen
