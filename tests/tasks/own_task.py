"""A user's own task, in a file of its own: loaded by its path, never imported by the client."""

import torch
from torch import nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples, TaskContext


class Lines:
    """Straight lines y = 2x + shard with a little curvature; one parameter pair to learn."""

    def __init__(self, context: TaskContext) -> None:
        self.shard = context.shard
        self.count = int(context.options.get("count", 32))

    def model(self) -> nn.Module:
        return nn.Linear(1, 1)

    def training_data(self) -> Examples:
        inputs = torch.linspace(-1, 1, self.count).unsqueeze(1)
        return Examples(inputs, 2 * inputs + self.shard)

    def test_data(self) -> Examples | None:
        return None

    def loss(self, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return functional.mse_loss(outputs, targets)


class Unfinished:
    def __init__(self, context: TaskContext) -> None: ...

    def model(self) -> nn.Module:
        return nn.Linear(1, 1)


class Contextless:
    """Takes no context."""
