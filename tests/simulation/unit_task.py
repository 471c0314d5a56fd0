"""Client u moves its own parameter up and all others down, as far as the clip lets it: of raw
integers of one bit it contributes 1 at coordinate u and 0 elsewhere."""

import torch
from torch import nn

from fedperm_client.tasks.task import Examples, TaskContext

PARAMETERS = 16


class Row(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.zeros(PARAMETERS, dtype=torch.float64))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs @ self.values


class Unit:
    def __init__(self, context: TaskContext) -> None:
        self.shard = context.shard

    def model(self) -> nn.Module:
        return Row()

    def training_data(self) -> Examples:
        signs = -torch.ones(1, PARAMETERS, dtype=torch.float64)
        signs[0, self.shard] = 1
        return Examples(signs, torch.zeros(1))

    def test_data(self) -> Examples | None:
        return None

    def loss(self, outputs: torch.Tensor, _targets: torch.Tensor) -> torch.Tensor:
        return -outputs.mean()
