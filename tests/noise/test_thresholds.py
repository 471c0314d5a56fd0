"""The integer table against the exact law, computed again with fractions."""

from fractions import Fraction

import numpy as np
import pytest

from fedperm.errors import ParameterError
from fedperm.noise.law import GridLaplace, sampler_epsilon
from fedperm.noise.table_sampler import MAX_LIMIT, TableSampler, build_thresholds
from tests.noise.exact_law import exact_magnitudes

TABLES = [(2.0, 20), (15.344, 140), (0.16, 19), (2.56, 278)]


def table_law(scale: float, limit: int) -> list[Fraction]:
    """P(|noise| = m) as the table has it: differences of neighbouring thresholds."""
    table = build_thresholds(scale, limit)
    above = [1 << table.bits, *reversed(table.ascending), 0]
    return [Fraction(above[m] - above[m + 1], 1 << table.bits) for m in range(limit + 1)]


@pytest.mark.parametrize(("scale", "limit"), TABLES)
def test_the_stated_error_holds_for_every_outcome(scale, limit):
    """Both ways round: p/p_true - 1, and p_true/p - 1, which bounds the logarithm."""
    eta = Fraction(build_thresholds(scale, limit).eta)
    errors = [
        max(abs(table / true - 1), abs(true / table - 1))
        for table, true in zip(
            table_law(scale, limit), exact_magnitudes(Fraction(scale), limit), strict=True
        )
    ]
    assert max(errors) <= eta
    assert eta < max(errors) * 1000, "the bound is of the right size, not just large"


@pytest.mark.parametrize(("scale", "limit"), TABLES)
def test_the_error_is_below_96_bits_and_no_outcome_is_lost(scale, limit):
    table = build_thresholds(scale, limit)
    assert table.eta < 2.0**-96
    assert all(chance > 0 for chance in table_law(scale, limit))
    assert (np.diff(table.leading.astype(object)) >= 0).all()


def test_a_million_parameters_for_a_thousand_rounds_cost_nothing_to_speak_of():
    law = GridLaplace(50.95, 256, 0.5 + 8 * 50.95)
    assert 0 < sampler_epsilon(TableSampler(law).eta, positions=10**6, rounds=1000) < 1e-20


def test_what_an_error_costs_by_hand():
    assert sampler_epsilon(1e-9, positions=8000, rounds=50) == pytest.approx(8e-4)


def test_a_table_that_would_not_fit_is_refused_with_a_way_out():
    with pytest.raises(ParameterError, match="coarser grid"):
        build_thresholds(1e6, MAX_LIMIT + 1)
