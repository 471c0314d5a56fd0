"""MNIST, filtered once and dealt out to the clients as the product's task does it."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from experiments.accuracy.setting import CLIENTS, World
from fedperm_client.tasks.filters import FilterName
from fedperm_client.tasks.images import CLASSES
from fedperm_client.tasks.mnist import Mnist
from fedperm_client.tasks.models import ModelName, classifier
from fedperm_client.tasks.partition import Partition
from fedperm_client.tasks.task import Examples, TaskContext

HELD_BACK = 10_000
"""Training images that tuning looks at instead of the test set: the last ones."""
MIN_RECORDS = 10
SIDE = 28


@dataclass(frozen=True, eq=False)
class Digits:
    """Images to train on, and images to be judged by."""

    train: Examples
    judged: Examples

    def cut(self, world: World) -> tuple[Examples, ...]:
        """The clients' own."""
        partition = Partition(CLIENTS, world.alpha, world.seed, MIN_RECORDS)
        return tuple(
            Examples(self.train.inputs[part], self.train.targets[part])
            for part in map(torch.from_numpy, partition.cut(self.train.targets.numpy()))
        )


def test_digits(data: Path, filter_name: FilterName) -> Digits:
    """All 60,000 to train on, judged by the 10,000 of the test set."""
    return Digits(_training_images(data, filter_name), _test_images(data, filter_name))


def validation_digits(data: Path, filter_name: FilterName) -> Digits:
    """Of the training set, the held-back images judge what was learned from all others."""
    everybody = _training_images(data, filter_name)
    return Digits(_some(everybody, slice(-HELD_BACK)), _some(everybody, slice(-HELD_BACK, None)))


@dataclass(frozen=True, eq=False)
class Given:
    """A task whose data are there already."""

    own: Examples
    loss = staticmethod(functional.cross_entropy)

    def model(self) -> nn.Module:
        return classifier(ModelName.LOGISTIC, side=SIDE, classes=CLASSES, hidden=1)

    def training_data(self) -> Examples:
        return self.own

    def test_data(self) -> Examples | None:
        return None


def _some(examples: Examples, which: slice) -> Examples:
    return Examples(examples.inputs[which], examples.targets[which])


@lru_cache(maxsize=1)
def _training_images(data: Path, filter_name: FilterName) -> Examples:
    return _mnist(data).everybodys().examples(filter_name)


@lru_cache(maxsize=1)
def _test_images(data: Path, filter_name: FilterName) -> Examples:
    return _mnist(data).public().examples(filter_name)


def _mnist(data: Path) -> Mnist:
    return Mnist(TaskContext({}, 0, 1, data))
