"""The noise is integer: bounds must hold for its law, not only for continuous Laplace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.privacy.blanket import integer_laplace_facts, laplace_facts, vector_second_moment
from fedperm.privacy.unshuffled import integer_laplace_divergence, laplace_epsilon

scales = st.floats(0.1, 100)


def masses(scale: float, grid: int, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The law of the noise around 0 and around `grid`, from the definition, tails cut."""
    points = np.arange(-reach, grid + reach + 1)
    a = np.exp(-1 / (scale * grid))
    law = lambda centre: (1 - a) / (1 + a) * a ** np.abs(points - centre)  # noqa: E731
    return law(0), law(grid)


@given(scale=st.floats(0.1, 10), order=st.floats(1.1, 30), grid=st.sampled_from([1, 2, 16, 64]))
def test_the_divergence_is_that_of_the_law(scale, order, grid):
    p, q = masses(scale, grid, int(30 * scale * grid) + grid)
    by_definition = np.log(p @ (q / p) ** order) / (order - 1)
    formula = integer_laplace_divergence(scale, np.array([order]), grid)[0]
    assert formula == pytest.approx(by_definition, rel=1e-6, abs=1e-9)


@given(scale=scales, order=st.floats(1.1, 100))
def test_a_coarser_grid_shows_more(scale, order):
    """So the coarsest grid bounds all; the finest here is nearly continuous."""
    orders = np.array([order])
    by_grid = [integer_laplace_divergence(scale, orders, grid)[0] for grid in (4096, 256, 32, 16)]
    assert by_grid == sorted(by_grid)


@given(scale=scales, count=st.integers(1, 10_000), delta=st.floats(1e-9, 0.1))
def test_epsilon_is_never_above_the_pure_sum(scale, count, delta):
    assert 0 <= laplace_epsilon(scale, count, delta) <= count / scale


@given(epsilon_0=st.floats(0.05, 5), share=st.floats(0, 1))
def test_the_blankets_second_moment_is_that_of_the_law(epsilon_0, share):
    grid, scale, epsilon = 16, 1 / epsilon_0, share * epsilon_0
    p, q = masses(scale, grid, int(30 * scale * grid) + grid)
    shared = np.minimum(p, q)
    gamma = shared.sum()
    blanket = shared / gamma
    ratio = np.divide(p - np.exp(epsilon) * q, blanket, out=np.zeros_like(p), where=blanket > 0)
    facts = integer_laplace_facts(epsilon, epsilon_0)
    assert facts.gamma == pytest.approx(gamma, rel=1e-9)
    assert facts.second_moment == pytest.approx(blanket @ ratio**2, rel=1e-6)
    assert facts.second_moment >= laplace_facts(epsilon, epsilon_0).second_moment * (1 - 1e-9)


@given(epsilon_1=st.floats(0.01, 2), w=st.integers(1, 40), share=st.floats(0, 1))
def test_a_vectors_second_moment_is_at_most_one_coordinates(epsilon_1, w, share):
    """Why the 1-D bound may be used for a superwindow: same gamma, same largest L, less spread."""
    epsilon_w = w * epsilon_1
    epsilon = share * epsilon_w
    one = integer_laplace_facts(epsilon, epsilon_w).second_moment
    assert vector_second_moment(epsilon, epsilon_1, w) <= one * (1 + 1e-9)


@given(epsilon_1=st.floats(0.02, 2), w=st.integers(1, 40), share=st.floats(0, 1))
def test_so_is_that_of_a_vector_of_integer_noise(epsilon_1, w, share):
    """E[L^2] of independent coordinates from the definition of the law of each."""
    epsilon_w = w * epsilon_1
    ratio, grid, scale = np.exp(share * epsilon_w), 16, 1 / epsilon_1
    p, q = masses(scale, grid, int(30 * scale * grid) + grid)
    shared = np.minimum(p, q)
    square, cross = shared.sum() * (p @ (p / shared)), shared.sum() * (p @ (q / shared))
    vector = (1 + ratio**2) * square**w - 2 * ratio * cross**w
    one = integer_laplace_facts(share * epsilon_w, epsilon_w).second_moment
    assert vector <= one * (1 + 1e-6)
