"""MNIST, filtered once and dealt out to the clients as the product's task does it."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from experiments.accuracy.setting import CLIENTS, World
from fedperm_client.tasks.images import CLASSES, LabelledImages
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


def test_digits(data: Path, world: World) -> Digits:
    """All 60,000 to train on, judged by the 10,000 of the test set."""
    task = _mnist(data)
    return Digits(_examples(task.everybodys(), world), _examples(task.public(), world))


def validation_digits(data: Path, world: World) -> Digits:
    """50,000 to train on, judged by the other 10,000 of the training set."""
    everybody = _examples(_mnist(data).everybodys(), world)
    kept = len(everybody) - HELD_BACK
    return Digits(
        Examples(everybody.inputs[:kept], everybody.targets[:kept]),
        Examples(everybody.inputs[kept:], everybody.targets[kept:]),
    )


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


def _mnist(data: Path) -> Mnist:
    return Mnist(TaskContext({}, 0, 1, data))


def _examples(images: LabelledImages, world: World) -> Examples:
    return images.examples(world.filter)
