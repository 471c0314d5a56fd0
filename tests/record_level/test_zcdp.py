"""From rho to (epsilon, delta) and back, against dp_accounting and by hand."""

import math

import dp_accounting
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.privacy.record_level import zcdp_epsilon, zcdp_rho

rhos = st.floats(1e-6, 1e4)
deltas = st.floats(1e-12, 0.1)


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_epsilon_is_dp_accountings_over_a_dense_set_of_orders(rho, delta):
    orders = 1 + np.exp(np.linspace(-8, 12, 20_001))
    theirs, _ = dp_accounting.rdp.compute_epsilon(list(orders), list(rho * orders), delta)
    ours = zcdp_epsilon(rho, delta)
    assert ours == pytest.approx(theirs, rel=1e-5)
    assert ours <= theirs * (1 + 1e-12)


@given(rhos, deltas)
def test_never_worse_than_the_textbook_conversion(rho, delta):
    """Bun and Steinke, Prop. 1.3: epsilon = rho + 2 sqrt(rho ln(1/delta))."""
    assert zcdp_epsilon(rho, delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


@given(st.floats(1e-3, 1e3), deltas)
def test_back_and_forth(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * 1.0001, delta) > epsilon * (1 - 1e-9)


@given(rhos, deltas, st.floats(1.01, 10))
def test_epsilon_grows_with_rho_and_falls_with_delta(rho, delta, factor):
    assert zcdp_epsilon(rho * factor, delta) >= zcdp_epsilon(rho, delta)
    assert zcdp_epsilon(rho, delta / factor) >= zcdp_epsilon(rho, delta)


def test_nothing_released_costs_nothing():
    assert zcdp_epsilon(0.0, 1e-5) == 0


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, float("nan")])
def test_an_impossible_delta_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        zcdp_epsilon(1.0, delta)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_impossible_budgets_are_refused(wrong):
    with pytest.raises(ParameterError, match="rho"):
        zcdp_epsilon(wrong, 1e-5)
    with pytest.raises(ParameterError, match="epsilon"):
        zcdp_rho(wrong, 1e-5)
