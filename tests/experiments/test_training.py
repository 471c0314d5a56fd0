"""What clients make of averaged movements: by hand, with an algorithm that always moves alike."""

import numpy as np
import pytest
import torch

from experiments.accuracy.setting import ROUNDS, Recipe, Schedule
from experiments.accuracy.training import Judge, train
from fedperm_client.tasks.task import Examples

JUDGED = Examples(torch.ones(4, 1, 28, 28), torch.tensor([0, 1, 2, 3]))
PLAIN = Recipe(1.0)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As the experiments have it; more only wait for each other here."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Still:
    """Remembers where it was asked to go on from; moves by 1 and, if it ends, ends."""

    def __init__(self, rounds=ROUNDS):
        self.asked = []
        self.rounds = rounds

    def move(self, parameters):
        if len(self.asked) == self.rounds:
            return None
        self.asked.append(float(parameters[0]))
        return np.ones_like(parameters)


def asked(recipe, rounds=4):
    algorithm = Still()
    train(algorithm, JUDGED, recipe, rounds)
    return algorithm.asked


def test_a_model_moves_by_what_a_round_gives():
    assert asked(PLAIN) == [0.0, 1.0, 2.0, 3.0]


def test_momentum_carries_half_of_the_last_step_on():
    assert asked(Recipe(1.0, momentum=0.5)) == [0.0, 1.0, 2.5, 4.25]


def test_a_falling_schedule_goes_as_far_in_all():
    recipe = Recipe(1.0, schedule=Schedule.FALLING)
    steps = np.diff(asked(recipe, ROUNDS))
    assert steps[0] == pytest.approx(1.98)
    assert np.all(np.diff(steps) < 0)
    assert sum(recipe.schedule.share(n) for n in range(1, ROUNDS + 1)) == pytest.approx(ROUNDS)


def test_training_ends_with_its_budget():
    assert len(train(Still(rounds=3), JUDGED, PLAIN)) == 3


class OneClassForEachRound:
    """Prefers class 0 first, then class 1 twice as much, which the mean of both does not show."""

    def __init__(self):
        self.number = 0

    def move(self, parameters):
        movement = np.zeros_like(parameters)
        movement[-10 + self.number] = (5.0, 6.0)[self.number]
        self.number += 1
        return movement


def test_the_mean_of_models_is_judged_where_it_is_asked_for():
    """After round 2 the last model says 1; the mean of both, (5, 3), says 0."""
    judged = Examples(torch.zeros(2, 1, 28, 28), torch.tensor([0, 0]))
    assert train(OneClassForEachRound(), judged, PLAIN, 2) == (100.0, 0.0)
    averaging = Recipe(1.0, averages_models=True)
    assert train(OneClassForEachRound(), judged, averaging, 2) == (100.0, 100.0)


def test_a_judge_starts_from_a_model_that_knows_nothing():
    judge = Judge(JUDGED)
    assert judge.accuracy(judge.start()) == 25.0
