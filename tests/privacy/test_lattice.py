"""Sums on a lattice: exact where the values lie on it, never below where they do not."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.privacy.blanket import log_ratios, vector_second_moment
from fedperm.privacy.clones import stronger_clones, variation_ratio
from fedperm.privacy.lattice import mean_positive_part, spread

values = st.lists(st.floats(-3, 2), min_size=2, max_size=4)


def brute_force(points: list[float], masses: list[float], n: int) -> float:
    total = 0.0
    for picks in product(range(len(points)), repeat=n):
        total += max(0.0, sum(points[i] for i in picks)) * np.prod([masses[i] for i in picks])
    return total


@given(values, st.integers(1, 5))
def test_never_below_the_exact_mean(points: list[float], n: int) -> None:
    masses = [1 / len(points)] * len(points)
    exact = brute_force(points, masses, n)
    coarse = mean_positive_part(spread(np.array(points), np.array(masses), 0.5), n)
    fine = mean_positive_part(spread(np.array(points), np.array(masses), 0.01), n)
    assert exact <= fine + 1e-12
    assert fine <= exact + 0.02 * n
    assert fine <= coarse + 1e-9


def test_exact_on_the_lattice() -> None:
    points, masses = [-2.0, 0.0, 3.0], [0.5, 0.25, 0.25]
    lattice = spread(np.array(points), np.array(masses), 1.0)
    assert mean_positive_part(lattice, 6) == pytest.approx(brute_force(points, masses, 6))


@pytest.mark.parametrize(("epsilon_0", "n"), [(0.1, 50), (1.0, 300), (4.0, 400), (8.0, 2000)])
def test_the_largest_total_variation_gives_clones(epsilon_0: float, n: int) -> None:
    """Two evaluations that share nothing: binomial tails and a Fourier transform."""
    epsilons = np.linspace(0, 0.9 * epsilon_0, 12)
    clones = stronger_clones(epsilons, epsilon_0, n)
    transform = variation_ratio(epsilons, epsilon_0, 1.0, n)
    resolved = clones > 1e-9
    assert np.all(transform[resolved] >= clones[resolved] * (1 - 1e-6))
    assert transform[resolved] == pytest.approx(clones[resolved], rel=0.02)


def test_a_smaller_total_variation_never_hurts() -> None:
    epsilons = np.linspace(0, 2.5, 12)
    curves = [variation_ratio(epsilons, 3.0, beta, 200) for beta in (0.1, 0.3, 0.6, 0.9)]
    for smaller, larger in pairwise(curves):
        assert np.all(smaller <= larger * (1 + 1e-3) + 1e-12)


@pytest.mark.parametrize(("epsilon_1", "w"), [(0.21, 20), (1.04, 1), (0.5, 7), (0.01, 300)])
def test_the_vectors_blanket_has_the_design_notes_moments(epsilon_1: float, w: int) -> None:
    """gamma = e^(-epsilon_w/2), E[R(0)/m] = 1, and E[L^2] as derived there."""
    ratios, gamma = log_ratios(epsilon_1, w), np.exp(-w * epsilon_1 / 2)
    left, right = np.meshgrid(ratios.values, ratios.values, indexing="ij")
    assert ratios.masses.sum() == pytest.approx(gamma)
    assert (ratios.masses * left).sum() == pytest.approx(1)
    for epsilon in (0.0, 0.2):
        loss = gamma * (left - np.exp(epsilon) * right)
        moment = (ratios.masses * loss**2).sum() / gamma
        exact = vector_second_moment(epsilon, epsilon_1, w)
        assert exact * (1 - 1e-9) <= moment <= exact * 1.03
