"""Local training of softmax regression for many models at once, in closed form.

The same images serve all cases of an experiment: a stack of models takes a small part of the time.
In single precision; a test compares it with the product's own training.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from experiments.accuracy.setting import Recipe
from fedperm_client.tasks.images import CLASSES
from fedperm_client.tasks.task import Examples

Models = NDArray[np.float64]
"""One a row: W row by row, then c."""

_RECORDS_AT_ONCE = 512


class Steps(Protocol):
    def movements(self, models: Models) -> Models:
        """How far training moves each model."""


@dataclass(frozen=True, eq=False)
class ClippedSteps:
    """One full-batch step with each example's gradient cut: the product's `ClippedStep`."""

    examples: Examples
    recipe: Recipe

    def movements(self, models: Models) -> Models:
        stack = _Stack.of(models)
        total = _Stack(torch.zeros_like(stack.weights), torch.zeros_like(stack.biases))
        for start in range(0, len(self.examples), _RECORDS_AT_ONCE):
            batch = slice(start, start + _RECORDS_AT_ONCE)
            residuals = stack.residuals(self._inputs[batch], self.examples.targets[batch])
            total.add(self._clipped(residuals, batch), self._inputs[batch], 1.0)
        return total.rows(-self.recipe.learning_rate / len(self.examples))

    def _clipped(self, residuals: Tensor, batch: slice) -> Tensor:
        clip = self.recipe.record_clip_norm
        if clip is None:
            return residuals
        norms: Tensor = torch.linalg.vector_norm(residuals, dim=2)
        norms = norms * self._lengths[batch].unsqueeze(1)
        return residuals * (clip / norms).clamp(max=1.0).unsqueeze(2)

    @cached_property
    def _inputs(self) -> Tensor:
        return self.examples.inputs.flatten(1)

    @cached_property
    def _lengths(self) -> Tensor:
        """Of each input, with the 1 that stands for the bias."""
        return torch.sqrt(self._inputs.square().sum(1) + 1)


@dataclass(frozen=True, eq=False)
class SgdSteps:
    """Epochs of small batches, as the product's `LocalSgd`; all models see the same batches."""

    examples: Examples
    recipe: Recipe
    randomness: Random

    def movements(self, models: Models) -> Models:
        stack = _Stack.of(models)
        for _ in range(self.recipe.local_epochs):
            for some in self._batches():
                inputs, targets = self.examples.inputs[some].flatten(1), self.examples.targets[some]
                residuals = stack.residuals(inputs, targets)
                stack.add(residuals, inputs, -self.recipe.learning_rate / len(some))
        return stack.rows(1.0) - models

    def _batches(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(self.randomness.getrandbits(63))
        order = torch.randperm(len(self.examples), generator=generator)
        size = self.recipe.batch_size or len(order)
        for start in range(0, len(order), size):
            yield order[start : start + size]


@dataclass(frozen=True, eq=False)
class _Stack:
    """All models' weights as one matrix."""

    weights: Tensor
    biases: Tensor

    @classmethod
    def of(cls, models: Models) -> "_Stack":
        stacked = torch.from_numpy(models).float()
        weights = stacked[:, :-CLASSES].reshape(len(models) * CLASSES, -1)
        return cls(weights.clone(), stacked[:, -CLASSES:].reshape(-1).clone())

    def residuals(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """softmax - onehot, by example and model."""
        logits = functional.linear(inputs, self.weights, self.biases)
        shares = logits.reshape(len(inputs), -1, CLASSES).softmax(2)
        return shares - functional.one_hot(targets, CLASSES).unsqueeze(1)

    def add(self, residuals: Tensor, inputs: Tensor, times: float) -> None:
        """The gradients of these examples."""
        flat = residuals.reshape(len(inputs), -1)
        self.weights.addmm_(flat.T, inputs, alpha=times)
        self.biases.add_(flat.sum(0), alpha=times)

    def rows(self, times: float) -> Models:
        models = len(self.biases) // CLASSES
        parts = self.weights.reshape(models, -1), self.biases.reshape(models, CLASSES)
        scaled: Models = (times * torch.cat(parts, dim=1)).double().numpy()
        return scaled
