"""CDP-FL and LDP-FL: how much noise a mean gets, and when there is no more."""

import numpy as np
import pytest

from experiments.accuracy.baselines import (
    Allowance,
    FedAvg,
    NoisyAveraging,
    cut,
    noised_mean,
)
from experiments.accuracy.gaussian import REMOVED, REPLACED, GaussianNoise

D, CLIENTS, CLIP = 20_000, 15, 0.5


class Walker:
    """A client that always moves the same way."""

    def __init__(self, movement):
        self.step = movement

    def movement(self, _parameters):
        return self.step


def algorithm(noise, movement, rounds=50):
    walkers = [Walker(movement)] * CLIENTS
    return NoisyAveraging(walkers, CLIP, Allowance(noise, rounds), np.random.default_rng(1))


def test_an_update_is_cut_to_the_norm_and_short_ones_are_left_alone():
    assert np.allclose(cut(np.array([3.0, 4.0]), 1.0), [0.6, 0.8])
    assert np.allclose(cut(np.array([0.3, 0.4]), 1.0), [0.3, 0.4])
    assert np.allclose(cut(np.zeros(2), 1.0), 0.0)


@pytest.mark.parametrize(
    ("noise", "deviation"),
    [
        (GaussianNoise(6.0, REMOVED), 6.0 * CLIP / CLIENTS),
        (GaussianNoise(6.0, REPLACED), 6.0 * CLIP / np.sqrt(CLIENTS)),
        (GaussianNoise(6.0, REMOVED, 0.5), 6.0 * CLIP / (0.5 * CLIENTS)),
    ],
)
def test_the_noise_on_the_mean(noise, deviation):
    mean = noised_mean(np.zeros(D), CLIENTS, CLIP, noise, np.random.default_rng(1))
    assert np.std(mean) == pytest.approx(deviation, rel=0.02)


def test_the_mean_moves_as_far_as_the_clipped_updates():
    movement = np.full(D, 1.0)
    mean = algorithm(GaussianNoise(1e-9, REMOVED), movement).move(np.zeros(D))
    np.testing.assert_allclose(mean, movement * CLIP / np.sqrt(D), rtol=1e-4)


def test_nothing_moves_once_the_budget_is_spent():
    averaging = algorithm(GaussianNoise(1.0, REMOVED), np.zeros(D), rounds=2)
    moves = [averaging.move(np.zeros(D)) is not None for _ in range(3)]
    assert moves == [True, True, False]


def test_a_client_is_in_about_its_share_of_rounds():
    averaging = algorithm(GaussianNoise(1e-9, REMOVED, 0.5), np.full(4, 1.0))
    lengths = [np.linalg.norm(averaging.move(np.zeros(4))) / CLIP for _ in range(50)]
    assert len({round(length, 3) for length in lengths}) > 3
    assert np.mean(lengths) == pytest.approx(1.0, abs=0.15)


def test_fedavg_is_the_plain_mean():
    walkers = [Walker(np.array([1.0, 2.0])), Walker(np.array([3.0, 6.0]))]
    np.testing.assert_array_equal(FedAvg(walkers).move(np.zeros(2)), [2.0, 4.0])
