"""The Gaussian baselines' budgets, against composition by another way."""

import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant

from experiments.accuracy.gaussian import (
    REMOVED,
    REPLACED,
    GaussianNoise,
    noise_for,
    rounds_within,
    spent,
)
from experiments.accuracy.setting import DELTA


@pytest.mark.parametrize(("multiplier", "sensitivity"), [(7.7, REMOVED), (15.4, REPLACED)])
def test_the_epsilon_that_is_spent_is_that_of_composed_privacy_losses(multiplier, sensitivity):
    accountant = PLDAccountant()
    accountant.compose(GaussianDpEvent(7.7), 50)
    composed = accountant.get_epsilon(DELTA)
    assert spent(GaussianNoise(multiplier, sensitivity), 50) == pytest.approx(composed, rel=1e-3)


def test_a_budget_ends_before_the_round_that_would_pass_it():
    noise = GaussianNoise(7.7, REMOVED)
    rounds = rounds_within(2.0, noise, 50)
    assert spent(noise, rounds) <= 2.0 < spent(noise, rounds + 1)
    assert rounds_within(100.0, noise, 50) == 50


def test_the_noise_for_a_budget_lasts_as_long_as_it_should():
    noise = noise_for(4.0, 50, REMOVED)
    assert rounds_within(4.0, noise, 60) == 50
    assert noise_for(4.0, 50, REPLACED).multiplier == 2 * noise.multiplier


def test_a_hidden_choice_of_clients_costs_less():
    assert spent(GaussianNoise(3.0, REMOVED, 0.5), 3) < spent(GaussianNoise(3.0, REMOVED), 3)
