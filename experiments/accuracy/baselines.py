"""What the paper compares with: FedAvg, CDP-FL (its Algorithm 2) and LDP-FL (Gaussian)."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.random import Generator

from experiments.accuracy.images import Given
from experiments.accuracy.setting import Recipe
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples
from fedperm_client.training.parameters import load
from fedperm_client.training.sgd import LocalSgd


class Trainer:
    """A client that hides nothing."""

    def __init__(self, own: Examples, recipe: Recipe, randomness: Random) -> None:
        task = Given(own)
        self._own = own
        self._module = task.model()
        self._sgd = LocalSgd(
            recipe.learning_rate, recipe.local_epochs, recipe.batch_size, task.loss
        )
        self._randomness = randomness

    def movement(self, parameters: Parameters) -> Parameters:
        load(self._module, parameters)
        return self._sgd.update(self._module, self._own, self._randomness)


@dataclass(frozen=True)
class Gaussian:
    """Noise of `multiplier` times the clip, once on the sum (by a trusted server) or once for
    each client."""

    multiplier: float
    at_clients: bool


class Averaging:
    """FedAvg where there is no noise. With it every update is cut to the L2 norm `clip`. All
    clients count alike."""

    def __init__(
        self, recipe: Recipe, parts: Sequence[Examples], seed: int, noise: Gaussian | None
    ) -> None:
        self._trainers = [
            Trainer(own, recipe, Random(f"averaging {seed} {u}")) for u, own in enumerate(parts)
        ]
        self._clip = recipe.clip
        self._noise = noise
        self._generator = np.random.default_rng([seed, 1])

    def move(self, parameters: Parameters) -> Parameters:
        movements = [trainer.movement(parameters) for trainer in self._trainers]
        if self._noise is None:
            return sum_of(movements) / len(movements)
        total = sum_of([cut(movement, self._clip) for movement in movements])
        return noised(total, len(movements), self._clip, self._noise, self._generator)


def sum_of(movements: Sequence[Parameters]) -> Parameters:
    total: Parameters = np.sum(movements, axis=0)
    return total


def cut(movement: Parameters, clip: float) -> Parameters:
    norm = float(np.linalg.norm(movement))
    return movement * min(1.0, clip / norm) if norm else movement


def noised(
    total: Parameters, clients: int, clip: float, noise: Gaussian, generator: Generator
) -> Parameters:
    """The mean. One client moves the sum by at most `clip`: z * clip is on the sum, z * clip / n on
    the mean (the paper prints z * C / q). The noises of n clients add up to sqrt(n) times one."""
    deviation = noise.multiplier * clip
    if noise.at_clients:
        deviation *= float(np.sqrt(clients))
    return (total + generator.normal(0.0, deviation, total.shape)) / clients
