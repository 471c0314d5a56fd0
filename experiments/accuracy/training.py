"""Rounds of any algorithm, and how good the model is after each."""

from typing import Protocol

import numpy as np

from experiments.accuracy.images import Given
from experiments.accuracy.setting import ROUNDS, Recipe
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples
from fedperm_client.training.evaluation import evaluate
from fedperm_client.training.parameters import flatten, load


class Rounds(Protocol):
    def move(self, parameters: Parameters) -> Parameters | None:
        """How far one round takes the model; None if its budget allows no more."""


def train(
    algorithm: Rounds, judged: Examples, recipe: Recipe, rounds: int = ROUNDS
) -> tuple[float, ...]:
    """Accuracy in percent after each round, from the zero model on."""
    judge = Judge(judged)
    parameters = judge.start()
    velocity, summed, accuracies = np.zeros_like(parameters), np.zeros_like(parameters), []
    for number in range(1, rounds + 1):
        movement = algorithm.move(parameters)
        if movement is None:
            break
        velocity = recipe.momentum * velocity + recipe.schedule.share(number) * movement
        parameters = parameters + velocity
        summed += parameters
        accuracies.append(judge.accuracy(summed / number if recipe.averages_models else parameters))
    return tuple(accuracies)


class Judge:
    def __init__(self, judged: Examples) -> None:
        self._task = Given(judged)
        self._module = self._task.model()

    def start(self) -> Parameters:
        return np.zeros_like(flatten(self._module))

    def accuracy(self, parameters: Parameters) -> float:
        """In percent."""
        load(self._module, parameters)
        evaluation = evaluate(self._module, self._task.own, self._task.loss)
        return 100 * (evaluation.accuracy or 0.0)
