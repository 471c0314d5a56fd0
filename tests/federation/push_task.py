"""A task whose update is known beforehand: every parameter is pushed up, further than the clip."""

import torch
from torch import nn

from fedperm_client.tasks.task import Examples, TaskContext


class Push:
    def __init__(self, context: TaskContext) -> None:
        self.records = int(context.options.get("records", 4))

    def model(self) -> nn.Module:
        return nn.Linear(40, 5)

    def training_data(self) -> Examples:
        return Examples(torch.ones(self.records, 40), torch.zeros(self.records))

    def test_data(self) -> Examples | None:
        return None

    def loss(self, outputs: torch.Tensor, _targets: torch.Tensor) -> torch.Tensor:
        """Falls by 1 with every unit of every parameter."""
        return -outputs.sum(dim=1).mean()
