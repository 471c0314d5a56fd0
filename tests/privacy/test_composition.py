"""Profiles, their convex minorant, and composition, against brute force and closed forms."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.privacy.calibration import guarantee
from fedperm.privacy.clones import stronger_clones
from fedperm.privacy.events import ShuffledLaplace
from fedperm.privacy.paper_chain import Level, naive, strong
from fedperm.privacy.registry import CLONES
from fedperm.privacy.shuffled import (
    LossGrid,
    composed_epsilon,
    laplace_vector_deltas,
    loss_grid,
    pure_profile,
)
from fedperm.windows import Geometry
from tests.privacy.shuffled_exactly import Law, hockey_stick, shuffled


def clone_pair(p: float, n: int) -> tuple[Law, Law]:
    """The pair that "stronger clones" compares, enumerated."""
    others = [(1 / (p + 1), 1 / (p + 1), (p - 1) / (p + 1))] * (n - 1)
    zero, one = p / (p + 1), 1 / (p + 1)
    return shuffled([(zero, one, 0.0), *others]), shuffled([(one, zero, 0.0), *others])


def twice(law: Law) -> Law:
    return {(*x, *y): law[x] * law[y] for x, y in product(law, repeat=2)}


@pytest.mark.parametrize(("p", "n"), [(2.0, 2), (5.0, 6), (30.0, 12)])
def test_clones_are_evaluated_exactly(p: float, n: int) -> None:
    epsilons = np.linspace(0, 0.99 * log(p), 20)
    exact = [hockey_stick(*clone_pair(p, n), epsilon) for epsilon in epsilons]
    assert stronger_clones(epsilons, log(p), n) == pytest.approx(exact, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("p", "n"), [(2.0, 4), (6.0, 6)])
@pytest.mark.parametrize("delta", [0.2, 1e-2, 1e-4])
def test_two_rounds_by_brute_force(p: float, n: int, delta: float) -> None:
    """The composed epsilon is above the true one at this delta, and by less than 3 %."""
    grid = LossGrid(log(p) / 60, np.arange(61))
    profile = pure_profile(grid, stronger_clones(grid.epsilons[:-1], log(p), n))
    epsilon = composed_epsilon(profile, 2, delta)
    left, right = clone_pair(p, n)
    assert hockey_stick(twice(left), twice(right), epsilon) <= delta
    assert hockey_stick(twice(left), twice(right), 0.97 * epsilon) > delta


def test_the_minorant_ignores_a_useless_bound() -> None:
    """A profile is convex in e^eps: a bound of 1 somewhere between two good ones changes little."""
    grid = LossGrid(0.02, np.arange(101))
    good = stronger_clones(grid.epsilons[:-1], 2.0, 100)
    spoilt = good.copy()
    spoilt[::2] = 1.0
    epsilons = [composed_epsilon(pure_profile(grid, deltas), 20, 1e-5) for deltas in (good, spoilt)]
    assert epsilons[0] <= epsilons[1] <= 1.01 * epsilons[0]


@given(st.lists(st.floats(0, 1), min_size=20, max_size=20))
def test_the_minorant_is_convex_decreasing_and_below_every_bound(deltas: list[float]) -> None:
    grid = LossGrid(0.1, np.arange(21))
    profile = pure_profile(grid, np.array(deltas))
    ratios = np.exp(profile.step * profile.marks)
    slopes = np.diff(profile.deltas) / np.diff(ratios)
    assert np.all(slopes <= 1e-12)
    assert np.all(np.diff(slopes) >= -1e-9)
    bounded = np.interp(np.exp(grid.epsilons[:-1]), ratios, profile.deltas)
    assert np.all(bounded <= np.array(deltas) + 1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4, 0.499])
def test_one_laplace_coordinate(epsilon: float) -> None:
    """Closed form: 1 - e^((eps - 1/b)/2); the grid's profile is above it, and no more than 1 %."""
    (found,) = laplace_vector_deltas(2.0, 1, np.array([epsilon]))
    exact = 1 - exp((epsilon - 0.5) / 2)
    assert exact * (1 - 1e-9) <= found <= exact * 1.01 + 1e-4


def test_integer_noise_on_the_grid_is_covered() -> None:
    """The released noise is integer Laplace of scale b N: never above the profile used for it."""
    b, grid = 0.7, 16
    values = np.arange(-60 * grid, 61 * grid)
    noise = np.exp(-np.abs(values) / (b * grid))
    moved = np.exp(-np.abs(values - grid) / (b * grid))
    epsilons = np.linspace(0, 0.99 / b, 40)
    exact = [
        np.maximum(0, noise / noise.sum() - exp(epsilon) * moved / moved.sum()).sum()
        for epsilon in epsilons
    ]
    assert np.all(exact <= laplace_vector_deltas(b, 1, epsilons) + 1e-12)


def test_without_company_nothing_is_amplified() -> None:
    """k1 = 1: a shuffle of one position, so the tight composition of the unshuffled vector."""
    geometry, b, rounds = Geometry(d=5, k1=1, k2=1), 10.0, 12
    alone = guarantee(CLONES, geometry, rounds, b, 1e-5).epsilon
    grid = loss_grid(ShuffledLaplace(geometry, b))
    profile = pure_profile(grid, laplace_vector_deltas(b, 5, grid.epsilons[:-1]))
    assert alone == pytest.approx(composed_epsilon(profile, rounds, 1e-5))


def test_naive_and_strong_composition() -> None:
    """Hand-worked: sqrt(2*100*ln(1/e^-8)) = 40; 100 * 0.1 * (e^0.1 - 1) = 1.0517."""
    assert naive(0.1, 100) == pytest.approx(10)
    assert strong(0.1, 100, exp(-8)) == pytest.approx(4 + 1.0517, abs=1e-4)


def test_a_level_halves_its_delta_and_takes_the_smaller() -> None:
    assert Level(10, 1e-5).delta_each == pytest.approx(5e-7)
    assert Level(1, 1e-5).delta_each == 1e-5
    assert Level(2, 1e-5).epsilon(0.1) == naive(0.1, 2)
    assert Level(10_000, 1e-5).epsilon(0.001) == strong(0.001, 10_000, 5e-6)
