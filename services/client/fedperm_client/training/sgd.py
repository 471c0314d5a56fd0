"""Plain local training: some epochs of stochastic gradient descent. No record-level guarantee."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn

from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples
from fedperm_client.training.mode import training_mode
from fedperm_client.training.parameters import flatten, trainable
from fedperm_client.training.per_example import Loss


@dataclass(frozen=True)
class LocalSgd:
    """`batch_size` None is the full batch."""

    learning_rate: float
    epochs: int
    batch_size: int | None
    loss: Loss

    def update(self, module: nn.Module, examples: Examples, randomness: Random) -> Parameters:
        """How far the module's parameters moved; the module is left where they ended."""
        start = flatten(module)
        training_mode(module)
        parameters = list(trainable(module).values())
        for _ in range(self.epochs):
            for records in self._batches(len(examples), randomness):
                outputs = module(examples.inputs[records])
                self._step(parameters, self.loss(outputs, examples.targets[records]))
        return flatten(module) - start

    def _step(self, parameters: Sequence[Tensor], value: Tensor) -> None:
        gradients = torch.autograd.grad(value, parameters, allow_unused=True)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                if gradient is not None:
                    parameter.sub_(gradient, alpha=self.learning_rate)

    def _batches(self, count: int, randomness: Random) -> Iterator[Tensor | slice]:
        """Every record once, in a fresh order if there is more than one batch."""
        if self.batch_size is None or self.batch_size >= count:
            yield slice(None)  # no copy of all records
            return
        generator = torch.Generator().manual_seed(randomness.getrandbits(63))
        order = torch.randperm(count, generator=generator)
        for start in range(0, count, self.batch_size):
            yield order[start : start + self.batch_size]
