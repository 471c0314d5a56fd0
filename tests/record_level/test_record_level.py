"""The record-level guarantee: hand-worked numbers, exact likelihoods, calibration, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp

from fedperm.errors import ParameterError
from fedperm.privacy.record_level import (
    LocalTraining,
    NoRecordBound,
    RecordGuarantee,
    RecordRelease,
    laplace_scale_for_record,
    record_level,
    steepness,
)

TRIAL = LocalTraining(learning_rate=3.0, clip=0.01, records=2000, clip_norm=2.0)
scales = st.floats(0.05, 100)
grids = st.sampled_from([1, 16, 256])


def guarantee(training: LocalTraining, release: RecordRelease) -> RecordGuarantee:
    result = record_level(training, release, delta=1e-5)
    assert isinstance(result, RecordGuarantee)
    return result


def output_law(x: float, laplace_scale: float, grid: int) -> NDArray[np.float64]:
    """P(output) of one value in [0, 1], rounded at random to the grid, noised and clamped."""
    outputs = np.arange(-2 * grid, 3 * grid + 1)
    step = math.floor(x * grid)
    up = x * grid - step
    near, far = (np.exp(-np.abs(outputs - k) / (laplace_scale * grid)) for k in (step, step + 1))
    chances = ((1 - up) * near + up * far) * math.tanh(1 / (2 * laplace_scale * grid))
    chances[[0, -1]] /= -math.expm1(-1 / (laplace_scale * grid))
    return chances


@given(scales, grids, st.floats(0, 1))
def test_the_oracle_is_a_law(laplace_scale, grid, x):
    assert output_law(x, laplace_scale, grid).sum() == pytest.approx(1)


@given(scales, grids, st.floats(0, 1), st.floats(0, 1))
def test_no_output_is_likelier_than_the_steepness_allows(laplace_scale, grid, x, other):
    ratio = np.log(output_law(x, laplace_scale, grid) / output_law(other, laplace_scale, grid))
    allowed = abs(x - other) * steepness(laplace_scale, grid)
    assert np.abs(ratio).max() <= allowed + 1e-9


@given(scales, grids)
def test_the_steepness_is_attained_next_to_a_grid_point(laplace_scale, grid):
    shift = 1e-5 / steepness(laplace_scale, grid)
    laws = [output_law(x, laplace_scale, grid) for x in (0.0, shift)]
    reached = np.log(laws[1] / laws[0]).max()
    assert reached == pytest.approx(1e-5, rel=1e-3)


@pytest.mark.parametrize(
    ("laplace_scale", "grid", "factor"),
    [(0.959, 16, 1.0333), (0.05, 16, 1.9923), (0.05, 256, 1.0401), (4.76, 256, 1.0004)],
)
def test_what_the_grid_costs_by_hand(laplace_scale, grid, factor):
    assert laplace_scale * steepness(laplace_scale, grid) == pytest.approx(factor, abs=5e-5)


@given(scales, grids, st.floats(1.01, 100), st.floats(0, 1), st.floats(0, 1))
def test_the_renyi_divergence_is_below_rho_alpha(laplace_scale, grid, alpha, x, other):
    """Bun and Steinke, Prop. 3.3, on the exact laws of one coordinate."""
    p, q = (np.log(output_law(value, laplace_scale, grid)) for value in (x, other))
    divergence = logsumexp(alpha * p + (1 - alpha) * q) / (alpha - 1)
    moved = abs(x - other) * steepness(laplace_scale, grid)
    assert divergence <= alpha * moved**2 / 2 + 1e-9


def test_the_sensitivity_by_hand():
    """lr G / (m C) = 3 * 2 / (2000 * 0.01) = 0.3, and a margin of a millionth for floats."""
    assert TRIAL.sensitivity == pytest.approx(0.3, rel=2e-6)
    assert TRIAL.sensitivity > 0.3


@pytest.mark.parametrize("records", [1, 90_000, 1_000_000, 100_000_000])
def test_the_margin_for_floats_grows_with_the_records(records):
    """Two sums of m terms in a row, off by m u each: m^2 u of the bound, or more than it."""
    training = replace(TRIAL, records=records)
    assert training.sensitivity is not None
    margin = training.sensitivity / (3.0 * 2.0 / (records * 0.01)) - 1
    assert margin >= max(1e-6, records * (records + 4) * 2**-53) * (1 - 1e-9)
    assert margin <= 1.01e-6 + 2 * records**2 * 2**-53


def test_a_count_of_numpy_is_a_count():
    assert replace(TRIAL, records=np.int32(100_000)).sensitivity == (
        replace(TRIAL, records=100_000).sensitivity
    )


@pytest.mark.parametrize(
    ("laplace_scale", "clip", "epsilon"), [(4.76, 0.01, 1.9), (0.959, 0.02, 5.3)]
)
def test_the_trials_of_the_design_note(laplace_scale, clip, epsilon):
    result = guarantee(replace(TRIAL, clip=clip), RecordRelease(laplace_scale, rounds=50))
    assert result.epsilon == pytest.approx(epsilon, abs=0.05)


def test_rho_by_hand():
    """Without the grid T S^2 / (2 b^2) = 50 * 0.09 / (2 * 4.76^2) = 0.09930."""
    result = guarantee(TRIAL, RecordRelease(4.76, rounds=50))
    assert result.rho == pytest.approx(0.09930 * 1.00041**2, rel=1e-4)
    assert (result.records, result.delta) == (2000, 1e-5)


@given(scales, st.integers(1, 500), st.floats(1.1, 3))
def test_more_noise_or_records_help_more_rounds_hurt(laplace_scale, rounds, factor):
    release = RecordRelease(laplace_scale, rounds)
    here = guarantee(TRIAL, release).epsilon
    assert guarantee(TRIAL, replace(release, laplace_scale=laplace_scale * factor)).epsilon < here
    assert guarantee(TRIAL, replace(release, rounds=rounds + 1)).epsilon > here
    assert guarantee(replace(TRIAL, records=4000), release).epsilon < here


@given(st.floats(0.1, 20), st.integers(1, 200), st.integers(100, 10_000), grids)
def test_calibration_meets_the_wanted_epsilon_and_wastes_nothing(epsilon, rounds, records, grid):
    training = replace(TRIAL, records=records)
    scale = laplace_scale_for_record(
        training, epsilon=epsilon, delta=1e-5, rounds=rounds, grid=grid
    )
    assert isinstance(scale, float)
    assert guarantee(training, RecordRelease(scale, rounds, grid)).epsilon <= epsilon
    wasteful = RecordRelease(scale * 0.999, rounds, grid)
    assert guarantee(training, wasteful).epsilon > epsilon


def test_an_inexact_sampler_is_paid_for():
    exact = guarantee(TRIAL, RecordRelease(4.76, rounds=50))
    costly = guarantee(TRIAL, RecordRelease(4.76, rounds=50, sampler_epsilon=0.5))
    assert costly.epsilon > exact.epsilon + 0.5
    assert costly.delta == exact.delta


@pytest.mark.parametrize(
    ("training", "reason"),
    [
        (replace(TRIAL, clip_norm=None), "not clipped per example"),
        (replace(TRIAL, local_steps=5), "5 local steps"),
        (replace(TRIAL, full_batch=False), "minibatch"),
    ],
)
def test_training_that_bounds_nothing_gets_no_number(training, reason):
    result = record_level(training, RecordRelease(4.76, rounds=50), delta=1e-5)
    assert isinstance(result, NoRecordBound)
    assert result.words.startswith("no bound: ")
    assert reason in result.words
    calibrated = laplace_scale_for_record(training, epsilon=2.0, delta=1e-5, rounds=50)
    assert calibrated == result


def test_the_guarantee_in_words():
    assert guarantee(TRIAL, RecordRelease(4.76, rounds=50)).words == (
        "replacing one of a client's 2,000 records: epsilon 1.908 at delta 1e-05 "
        "(rho 0.09939 zCDP); needs neither shuffle nor keys"
    )


@pytest.mark.parametrize("field", ["learning_rate", "clip", "records", "clip_norm"])
@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_impossible_training_is_refused(field, wrong):
    with pytest.raises(ParameterError, match="positive"):
        replace(TRIAL, **{field: wrong})


def test_records_are_counted_in_whole_numbers():
    with pytest.raises(ParameterError, match=r"2000\.5 records \(count them: a positive whole"):
        replace(TRIAL, records=2000.5)


@pytest.mark.parametrize("steps", [0, -1, 1.5, float("nan")])
def test_less_than_a_local_step_is_refused(steps):
    with pytest.raises(ParameterError, match=r"local steps \(count at least 1 step\)"):
        replace(TRIAL, local_steps=steps)


def test_impossible_releases_are_refused():
    with pytest.raises(ParameterError, match="0 rounds"):
        RecordRelease(1.0, rounds=0)
    with pytest.raises(ParameterError, match="Laplace scale"):
        RecordRelease(0.0, rounds=1)
    with pytest.raises(ParameterError, match="0 rounds"):
        laplace_scale_for_record(TRIAL, epsilon=1.0, delta=1e-5, rounds=0)
    with pytest.raises(ParameterError, match="too coarse"):
        record_level(TRIAL, RecordRelease(1e-4, rounds=1, grid=16), delta=1e-5)
