"""The seam for one's own model and data: a class with four parts, made with a TaskContext.

    class Flowers:
        def __init__(self, context: TaskContext) -> None:
            self.folder = context.data_directory / "flowers"

        def model(self) -> nn.Module: ...                  # the same tensors at every client
        def training_data(self) -> Examples: ...           # this client's own records
        def test_data(self) -> Examples | None: ...        # public: its metrics leave the client
        def loss(self, outputs: Tensor, targets: Tensor) -> Tensor: ...     # a mean over records

Save it in a file and set FEDPERM_TASK=flowers.py:Flowers; `fedperm init-task` writes a first one.
A run's document names a task but never a file: nobody else chooses what code a client runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

Option = str | int | float | bool


@dataclass(frozen=True)
class TaskContext:
    """What a task may know. Data that are cut into `shards` parts give a client part `shard`."""

    options: Mapping[str, Option]
    shard: int
    shards: int
    data_directory: Path


@dataclass(frozen=True, eq=False)
class Examples:
    """One input and one target a record."""

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.inputs)


class Task(Protocol):
    def model(self) -> nn.Module:
        """A new model. Its values do not matter: those of the run are loaded into it."""

    def training_data(self) -> Examples:
        """This client's records; they stay here."""

    def test_data(self) -> Examples | None:
        """Public data, the same at every client, or None."""

    def loss(self, outputs: Tensor, targets: Tensor, /) -> Tensor:
        """A mean over the records of a batch."""
