"""The noise's law: parameters that are refused, and where a draw may be cut."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.noise.law import FINE_GRID, GridLaplace, recommended_grid

grids = st.integers(0, 10).map(lambda power: 1 << power)


@given(grids, st.floats(0.5, 2000), st.integers(1, 20))
def test_noise_at_the_limit_hides_which_value_it_was_added_to(grid, reach, value_bits):
    """From all x in {0 .. N}/N it codes to the same end, with certainty: the cut shows nothing."""
    code = FixedPoint(value_bits, reach)
    limit = GridLaplace(1.0, grid, reach).limit
    values = np.arange(grid + 1)
    assert set(code.encode((values + limit) / grid, Random(1))) == {code.top}
    assert set(code.encode((values - limit) / grid, Random(1))) == {0}


def test_the_limit_by_hand():
    """b = 1: reach 8.5; from x = 0 the interval ends 9 * 16 steps up; two steps of margin."""
    assert GridLaplace(1.0, 16, 8.5).limit == 9 * 16 + 2


@given(st.floats(1e-3, 1e5), grids)
def test_the_scale_in_grid_steps_is_exact(laplace_scale, grid):
    law = GridLaplace(laplace_scale, grid, 1.0)
    assert law.integer_scale / grid == laplace_scale


@pytest.mark.parametrize("laplace_scale", [0.0, -1.0, float("nan"), float("inf")])
def test_no_noise_is_no_law(laplace_scale):
    with pytest.raises(ParameterError, match="noise=None"):
        GridLaplace(laplace_scale, 16, 1.0)


@pytest.mark.parametrize("grid", [0, -4, 3, 255, 1 << 17])
def test_a_grid_that_would_round_products_is_refused(grid):
    with pytest.raises(ParameterError, match="power of two"):
        GridLaplace(1.0, grid, 1.0)


@pytest.mark.parametrize("reach", [0.4, float("nan"), float("inf")])
def test_an_impossible_reach_is_refused(reach):
    with pytest.raises(ParameterError, match="reach"):
        GridLaplace(1.0, 16, reach)


@pytest.mark.parametrize(
    ("laplace_scale", "grid"), [(0.01, FINE_GRID), (50.95, FINE_GRID), (1e4, 4), (1e9, 1)]
)
def test_the_recommended_grid(laplace_scale, grid):
    assert recommended_grid(laplace_scale) == grid
