"""Nothing to learn: a client moves the one parameter of its shard up by 1, for load tests.

One step of plain SGD with learning rate 1 makes exactly the unit vector of the shard. The whole
federation is as real as with any other task, and everybody knows what its sums must be.
"""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from fedperm.run_document import MOST_PARAMETERS
from fedperm.wire.message import Message
from fedperm_client.tasks.options import read_options
from fedperm_client.tasks.task import Examples, TaskContext


class SyntheticOptions(Message):
    """`parameters` is d."""

    parameters: Annotated[int, Field(ge=1, le=MOST_PARAMETERS)]


class Vector(nn.Module):
    """d parameters that start at 0; doubles, so that sums of updates stay whole to the eye."""

    def __init__(self, parameters: int) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.zeros(parameters, dtype=torch.float64))

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs @ self.values


class Synthetic:
    def __init__(self, context: TaskContext) -> None:
        self.parameters = read_options(context.options, SyntheticOptions).parameters
        self.coordinate = context.shard % self.parameters

    def model(self) -> nn.Module:
        return Vector(self.parameters)

    def training_data(self) -> Examples:
        """One record: the unit vector."""
        unit = torch.zeros(1, self.parameters, dtype=torch.float64)
        unit[0, self.coordinate] = 1
        return Examples(unit, torch.zeros(1))

    def test_data(self) -> Examples | None:
        return None

    def loss(self, outputs: Tensor, _targets: Tensor) -> Tensor:
        """Falls by 1 with every unit of the client's own parameter, wherever that stands."""
        return -outputs.mean()
