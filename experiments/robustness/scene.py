"""The data of all clients, what attackers make of theirs, and the images that judge a model."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from experiments.accuracy.images import MIN_RECORDS, Given
from experiments.accuracy.setting import CLIENTS, World
from experiments.robustness.setting import TARGET
from fedperm.wire.model import Parameters
from fedperm_client.tasks.images import LabelledImages
from fedperm_client.tasks.mnist import Mnist
from fedperm_client.tasks.partition import Partition, Records
from fedperm_client.tasks.task import Examples, TaskContext
from fedperm_client.training.evaluation import evaluate
from fedperm_client.training.parameters import load

_PATCH = slice(22, 26)
"""Rows and columns of the trigger: a bright square in the lower right corner."""
_HIGHEST_LABEL = 9


@dataclass(frozen=True)
class Score:
    """In percent. `backdoor` is the share of patched images of other classes that are taken for
    the target; `stopped_in` the round whose average all clients refused."""

    accuracy: float
    backdoor: float
    stopped_in: int | None = None


@dataclass(frozen=True, eq=False)
class Scene:
    """`train` are the filtered `images`."""

    images: LabelledImages
    train: Examples
    test: Examples
    patched_test: Examples

    def score(self, parameters: Parameters, stopped_in: int | None = None) -> Score:
        return Score(
            _right(parameters, self.test), _right(parameters, self.patched_test), stopped_in
        )


class Deal:
    """The data of the clients of one seed: their own, and what attackers make of theirs."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene = scene
        self.seed = seed
        partition = Partition(CLIENTS, World(seed).alpha, seed, MIN_RECORDS)
        self._parts = partition.cut(scene.train.targets.numpy())
        self._own = [_only(scene.train, part) for part in self._parts]
        self._poisoned: dict[int, Examples] = {}

    @property
    def smallest(self) -> int:
        return min(map(len, self._parts))

    def own(self, client: int) -> Examples:
        return self._own[client]

    def mislabelled(self, client: int) -> Examples:
        own = self.own(client)
        return Examples(own.inputs, _HIGHEST_LABEL - own.targets)

    def poisoned(self, client: int) -> Examples:
        """A client's own images, and again with the trigger and the target's label."""
        if client not in self._poisoned:
            self._poisoned[client] = self._poison(client)
        return self._poisoned[client]

    def _poison(self, client: int) -> Examples:
        own = self.own(client)
        patched = with_trigger(self.scene.images.only(self._parts[client]))
        inputs = patched.examples(World(self.seed).filter).inputs
        return Examples(
            torch.cat([own.inputs, inputs]),
            torch.cat([own.targets, torch.full_like(own.targets, TARGET)]),
        )


@lru_cache(maxsize=1)
def mnist_scene(data: Path, one_of: int) -> Scene:
    """With one of so many training images; filtered once in a process."""
    task = Mnist(TaskContext({}, 0, 1, data))
    images = task.everybodys()
    return scene_of(images.only(np.arange(0, len(images.labels), one_of)), task.public())


@lru_cache(maxsize=1)
def mnist_deal(data: Path, one_of: int, seed: int) -> Deal:
    return Deal(mnist_scene(data, one_of), seed)


def scene_of(train: LabelledImages, test: LabelledImages) -> Scene:
    images = World(seed=0).filter
    others = with_trigger(test.only(test.labels != TARGET)).examples(images)
    return Scene(
        train,
        train.examples(images),
        test.examples(images),
        Examples(others.inputs, torch.full_like(others.targets, TARGET)),
    )


def with_trigger(images: LabelledImages) -> LabelledImages:
    pixels = images.pixels.copy()
    pixels[:, _PATCH, _PATCH] = images.brightest
    return LabelledImages(pixels, images.labels, images.brightest)


def _only(examples: Examples, part: Records) -> Examples:
    records = torch.from_numpy(part)
    return Examples(examples.inputs[records], examples.targets[records])


def _right(parameters: Parameters, examples: Examples) -> float:
    task = Given(examples)
    module = task.model()
    load(module, parameters)
    return 100 * (evaluate(module, examples, task.loss).accuracy or 0.0)
