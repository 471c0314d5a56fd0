"""Rounds of any algorithm, and how good the model is after each."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from experiments.accuracy.images import Given
from experiments.accuracy.setting import ROUNDS
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples
from fedperm_client.training.evaluation import evaluate
from fedperm_client.training.parameters import flatten, load


class Rounds(Protocol):
    def move(self, parameters: Parameters) -> Parameters:
        """How far one round takes the model."""


def train(
    algorithm: Rounds, judged: Examples, watch: Callable[[int], None] = lambda _round: None
) -> list[float]:
    """Accuracy in percent after each round, from the zero model on."""
    task = Given(judged)
    module = task.model()
    parameters = np.zeros_like(flatten(module))
    accuracies = []
    for number in range(1, ROUNDS + 1):
        parameters = parameters + algorithm.move(parameters)
        load(module, parameters)
        accuracies.append(100 * (evaluate(module, judged, task.loss).accuracy or 0.0))
        watch(number)
    return accuracies
