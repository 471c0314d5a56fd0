"""Logistic regression on a table: benign or malignant, from ten measurements of a tumour.

    FEDPERM_TASK=examples/tabular.py:Tumours FEDPERM_CLIENT_DATA_DIRECTORY=examples/data

Here one file is cut into parts, one a client. Clients with tables of their own would each read
their own file, and none would look at `shard`.
"""

import csv
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples, TaskContext

TYPICAL = (14.0, 19.0, 92.0, 650.0, 0.096, 0.10, 0.09, 0.05, 0.18, 0.063)
SPREAD = (3.5, 4.3, 24.0, 350.0, 0.014, 0.05, 0.08, 0.04, 0.027, 0.007)
"""For the scaling of columns, agreed on beforehand. Never compute them from own records: they
would differ from client to client, and tell about the records without any noise."""

CLASSES = ("benign", "malignant")
TEST_EVERY = 5


class Tumours:
    def __init__(self, context: TaskContext) -> None:
        self.context = context

    def model(self) -> nn.Module:
        return nn.Linear(len(TYPICAL), len(CLASSES))

    def training_data(self) -> Examples:
        """This client's part of the rows that are not public."""
        rows = self._rows()
        private = [row for number, row in enumerate(rows) if number % TEST_EVERY]
        return examples(private[self.context.shard :: self.context.shards])

    def test_data(self) -> Examples:
        """Public: every client has them, and reports how well the model does on them."""
        return examples(self._rows()[::TEST_EVERY])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(outputs, targets)

    def _rows(self) -> list[list[str]]:
        return read_rows(self.context.data_directory / "breast_cancer.csv")


def read_rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        _header, *rows = csv.reader(file)
    return rows


def examples(rows: list[list[str]]) -> Examples:
    """The first column is the class, the others are numbers."""
    numbers = torch.tensor([[float(cell) for cell in row[1:]] for row in rows])
    inputs = (numbers - torch.tensor(TYPICAL)) / torch.tensor(SPREAD)
    return Examples(inputs, torch.tensor([CLASSES.index(row[0]) for row in rows]))
