"""One full-batch step of softmax regression for many models at once.

The product's `ClippedStep` in closed form, in single precision and for a stack of models: the same
images serve all cases of an experiment. A test compares it with the product's `Learner`.
"""

from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True, eq=False)
class ClippedSteps:
    examples: Examples
    recipe: Recipe

    def movements(self, models: Models) -> Models:
        """How far each model moves."""
        stacked = torch.from_numpy(models).float()
        count, inputs = len(models), self._inputs
        weights = stacked[:, :-CLASSES].reshape(count * CLASSES, inputs.shape[1])
        biases = stacked[:, -CLASSES:].reshape(count * CLASSES)
        total = torch.zeros_like(weights)
        total_biases = torch.zeros_like(biases)
        for start in range(0, len(inputs), _RECORDS_AT_ONCE):
            some = slice(start, start + _RECORDS_AT_ONCE)
            residuals = self._residuals(functional.linear(inputs[some], weights, biases), some)
            total.addmm_(residuals.T, inputs[some])
            total_biases += residuals.sum(0)
        gradients = torch.cat(
            [total.reshape(count, -1), total_biases.reshape(count, CLASSES)], dim=1
        )
        step = -self.recipe.learning_rate / len(inputs)
        moved: Models = (step * gradients).double().numpy()
        return moved

    def _residuals(self, logits: Tensor, some: slice) -> Tensor:
        """softmax - onehot, each scaled so that its gradient is within the clip."""
        by_model = logits.reshape(len(logits), -1, CLASSES).softmax(2)
        by_model -= functional.one_hot(self.examples.targets[some], CLASSES).unsqueeze(1)
        clip = self.recipe.record_clip_norm
        if clip is not None:
            norms = by_model.norm(dim=2) * self._lengths[some].unsqueeze(1)
            by_model *= (clip / norms).clamp(max=1.0).unsqueeze(2)
        return by_model.reshape(len(logits), -1)

    @cached_property
    def _inputs(self) -> Tensor:
        return self.examples.inputs.flatten(1)

    @cached_property
    def _lengths(self) -> Tensor:
        """Of each input, with the 1 that stands for the bias."""
        return torch.sqrt(self._inputs.square().sum(1) + 1)
