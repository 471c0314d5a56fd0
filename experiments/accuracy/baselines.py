"""What the paper compares with: FedAvg, CDP-FL (its Algorithm 2) and LDP-FL (Gaussian)."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.random import Generator

from experiments.accuracy.gaussian import GaussianNoise
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


def trainers(recipe: Recipe, parts: Sequence[Examples], seed: int) -> list[Trainer]:
    return [Trainer(own, recipe, Random(f"averaging {seed} {u}")) for u, own in enumerate(parts)]


class FedAvg:
    """All clients count alike."""

    def __init__(self, clients: Sequence[Trainer]) -> None:
        self._clients = clients

    def move(self, parameters: Parameters) -> Parameters:
        return sum_of([c.movement(parameters) for c in self._clients]) / len(self._clients)


@dataclass(frozen=True)
class Allowance:
    """Noise, and for how many rounds of it the budget lasts."""

    noise: GaussianNoise
    rounds: int


class NoisyAveraging:
    """CDP-FL and LDP-FL: every update is cut to the L2 norm `clip`, and noised alone or as a sum.

    Cutting once where Algorithm 2 cuts after every batch bounds the same movement.
    """

    def __init__(
        self, clients: Sequence[Trainer], clip: float, allowance: Allowance, generator: Generator
    ) -> None:
        self._clients = clients
        self._clip = clip
        self._noise = allowance.noise
        self._rounds_left = allowance.rounds
        self._generator = generator

    def move(self, parameters: Parameters) -> Parameters | None:
        """None once the budget is spent."""
        if self._rounds_left == 0:
            return None
        self._rounds_left -= 1
        chosen = self._generator.random(len(self._clients)) < self._noise.client_share
        movements = [
            cut(client.movement(parameters), self._clip)
            for client, is_in in zip(self._clients, chosen, strict=True)
            if is_in
        ]
        total = sum_of([np.zeros_like(parameters), *movements])
        return noised_mean(total, len(self._clients), self._clip, self._noise, self._generator)


def sum_of(movements: Sequence[Parameters]) -> Parameters:
    total: Parameters = np.sum(movements, axis=0)
    return total


def cut(movement: Parameters, clip: float) -> Parameters:
    norm = float(np.linalg.norm(movement))
    return movement * min(1.0, clip / norm) if norm else movement


def noised_mean(
    total: Parameters, clients: int, clip: float, noise: GaussianNoise, generator: Generator
) -> Parameters:
    """One client moves the sum by at most `clip`: z * clip is on the sum, z * clip / n on the mean
    (the paper prints z * C / q). The noises of n clients add up to sqrt(n) times one."""
    deviation = noise.multiplier * clip
    if noise.at_clients:
        deviation *= float(np.sqrt(clients))
    noisy = total + generator.normal(0.0, deviation, total.shape)
    return noisy / (noise.client_share * clients)
