"""Norm bounding: what it lets through, what it shrinks, and to what."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.norm_bound import NormBound, NormForm, honest_limit

forms = st.sampled_from(NormForm)
codes = st.builds(FixedPoint, st.integers(6, 20), st.floats(0.5, 100))


def norm(values, form: NormForm, code: FixedPoint) -> float:
    """From the definition, in floating point."""
    decoded = code.low + code.step * values.astype(np.float64)
    return float(np.linalg.norm(decoded - (0.5 if form is NormForm.CENTRED else 0.0)))


def draw_values(code: FixedPoint, count: int, seed: int):
    randomness = Random(seed)
    drawn = [randomness.randint(0, code.top) for _ in range(count)]
    return np.array(drawn, dtype=code.dtype).reshape(1, count)


@given(codes, forms, st.integers(1, 300), st.integers(0, 2**32), st.floats(0.2, 3))
def test_what_is_aggregated_is_within_the_limit(code, form, count, seed, share):
    values = draw_values(code, count, seed)
    limit = share * max(norm(values, form, code), code.step * math.sqrt(count) * 5)
    bounded = NormBound(limit, form).apply(values, code)
    assert norm(bounded.values, form, code) <= limit * (1 + 1e-9)
    assert bounded.norm_before == pytest.approx(norm(values, form, code), rel=1e-9, abs=1e-9)
    assert bounded.norm_after == pytest.approx(norm(bounded.values, form, code), rel=1e-9, abs=1e-9)
    assert bounded.values.dtype == code.dtype
    if norm(values, form, code) < limit * (1 - 1e-9):
        assert np.array_equal(bounded.values, values)
        assert not bounded.was_bounded


@given(codes, forms, st.integers(2, 100), st.integers(0, 2**32))
def test_bounding_does_not_see_the_order(code, form, count, seed):
    values = draw_values(code, count, seed)
    order = list(range(count))
    Random(seed).shuffle(order)
    bound = NormBound(code.step * math.sqrt(count) * 4, form)
    direct = bound.apply(values, code)
    shuffled = bound.apply(values[:, order], code)
    assert shuffled.norm_before == direct.norm_before
    assert np.array_equal(shuffled.values, direct.values[:, order])


def test_a_scaled_update_keeps_its_direction():
    code = FixedPoint(16, 10.0)
    values = draw_values(code, 500, 1)
    before = norm(values, NormForm.CENTRED, code)
    bounded = NormBound(before / 4).apply(values, code)
    centred = values - code.top / 2
    shrunk = bounded.values - code.top / 2
    assert np.allclose(shrunk, centred / 4, atol=2)


def test_an_all_zero_upload_passes_the_papers_form_and_not_the_centred_one():
    """Why the default is centred: 0 everywhere decodes to -C everywhere."""
    code = FixedPoint(8, 0.5)
    zeros = np.zeros((1, 400), dtype=code.dtype)
    limit = 5.0
    assert not NormBound(limit, NormForm.PAPER).apply(zeros, code).was_bounded
    centred = NormBound(limit).apply(zeros, code)
    assert centred.norm_before == pytest.approx(0.5 * math.sqrt(400))
    assert centred.norm_after <= limit


def test_honest_noise_passes_the_honest_limit():
    """200 honest clients with signal at the box's corner; four deviations let nearly all pass.

    A normal tail beyond four deviations is 3e-5; the sum of squared Laplace draws is skewed, so
    the test allows 2 in 200 (seeded: it cannot flicker)."""
    positions, b = 8000, 4.76
    code = FixedPoint(12, 0.5 + 8 * b)
    bound = NormBound(honest_limit(positions, b))
    generator = np.random.default_rng(5)
    stopped = 0
    for seed in range(200):
        noisy = generator.choice([0.0, 1.0], positions) + generator.laplace(0, b, positions)
        coded = code.encode(noisy.reshape(1, -1), Random(seed))
        stopped += bound.apply(coded, code).was_bounded
    assert stopped <= 2


def test_the_honest_limit_by_hand():
    """b = 0: half a unit in each of 16 coordinates. b = 1, d = 20: 20 * 2.25 + 4 * 20 = 125."""
    assert honest_limit(16, 0.0) == 2.0
    assert honest_limit(20, 1.0) == pytest.approx(math.sqrt(125))


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_limit_is_refused(limit):
    with pytest.raises(ParameterError, match="norm bound M"):
        NormBound(limit)


@pytest.mark.parametrize("value", [0, 1])
def test_a_limit_finer_than_the_rounding_is_refused_whatever_the_values(value):
    code = FixedPoint(1, 0.5)
    with pytest.raises(ParameterError, match="finer than"):
        NormBound(0.1).apply(np.full((1, 100), value, dtype=code.dtype), code)


@pytest.mark.parametrize("form", NormForm)
def test_the_norm_of_millions_of_the_largest_values_is_exact(form):
    """Nine million values at the top: squares that would overflow 64 bits if added at once."""
    code, count = FixedPoint(20, 0.5), 9_000_000
    values = np.full((1, count), code.top, dtype=code.dtype)
    far = 0.5 if form is NormForm.CENTRED else 1.0
    measured = NormBound(1e9, form).apply(values, code).norm_before
    assert measured == pytest.approx(far * math.sqrt(count), rel=1e-12)


def test_nothing_cancels_near_the_centre():
    """A million values half a step from 1/2: the norm is half a step times a thousand."""
    code = FixedPoint(20, 0.5)
    values = np.full((1, 1_000_000), code.top // 2, dtype=code.dtype)
    measured = NormBound(1e9).apply(values, code).norm_before
    assert measured == pytest.approx(code.step / 2 * 1000, rel=1e-12)
