"""How the command turns what was asked for into a law of the noise."""

from dataclasses import replace

import pytest

from fedperm.errors import ParameterError
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.record_level import LocalTraining, RecordGuarantee, RecordRelease, record_level
from fedperm.privacy.registry import NO_SHUFFLE
from fedperm_cli.presets import HEAVY, LIGHT
from fedperm_cli.privacy.noise import ForRecord, ForTotal, GivenScale
from fedperm_cli.privacy.settings import Settings

TRAINING = LocalTraining(learning_rate=3, clip=0.01, records=2000, clip_norm=2)
SETTINGS = Settings(LIGHT, 50, 1e-5, NO_SHUFFLE.name, TRAINING)


@pytest.mark.parametrize(("scale", "grid"), [(0.01, 256), (50, 256), (1000, 64), (1e5, 1)])
def test_the_grid_is_coarser_beside_very_large_noise(scale: float, grid: int) -> None:
    assert GivenScale(scale).law(SETTINGS, NO_SHUFFLE).grid == grid


def test_the_law_reaches_as_far_as_the_planners_fixed_point() -> None:
    assert GivenScale(50).law(SETTINGS, NO_SHUFFLE).reach == 0.5 + 8 * 50


def test_more_is_needed_for_a_smaller_total() -> None:
    scales = [ForTotal(e).law(SETTINGS, NO_SHUFFLE).laplace_scale for e in (8, 4, 2, 1)]
    assert scales == sorted(scales)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_no_noise_is_sought_for_an_impossible_total(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="--epsilon is"):
        ForTotal(epsilon)
    with pytest.raises(ParameterError, match="positive, finite epsilon"):
        laplace_scale(NO_SHUFFLE, LIGHT, 50, epsilon, 1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.9, 20])
def test_a_record_gets_its_epsilon_on_whichever_grid(epsilon: float) -> None:
    law = ForRecord(epsilon, TRAINING).law(SETTINGS, NO_SHUFFLE)
    release = RecordRelease(law.laplace_scale, SETTINGS.rounds, law.grid)
    record = record_level(TRAINING, release, SETTINGS.delta)
    assert isinstance(record, RecordGuarantee)
    assert record.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert record.epsilon <= epsilon


def test_the_record_level_does_not_depend_on_the_shuffle() -> None:
    noise = ForRecord(2, TRAINING)
    heavy = replace(SETTINGS, geometry=HEAVY)
    assert noise.law(heavy, NO_SHUFFLE) == noise.law(SETTINGS, NO_SHUFFLE)
