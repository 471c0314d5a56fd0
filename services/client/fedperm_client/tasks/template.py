"""A task of your own: which model, which data, which loss. Change what it does, keep the names.

fedperm check-task my_task.py:MyTask     tries it out, without any server
export FEDPERM_TASK=my_task.py:MyTask    for each client, and for `fedperm run create`
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples, TaskContext


class MyTask:
    def __init__(self, context: TaskContext) -> None:
        """`context.data_directory` is the folder that a client's owner names, `context.options`
        what the run's operator gives with --option NAME=VALUE. If one set of data is to be cut up,
        this client's is part `context.shard` of `context.shards`."""
        self.context = context

    def model(self) -> nn.Module:
        """The same at every client; its first values are those that the operator's draws.

        Only trainable parameters are sent. Frozen ones and buffers must have the same values
        everywhere: load them from a file that all clients have.
        """
        return nn.Linear(2, 2)

    def training_data(self) -> Examples:
        """This client's records, which never leave it: inputs and targets, one of each a record."""
        return points(200, seed=self.context.shard + 1)

    def test_data(self) -> Examples | None:
        """Public records, on which every client reports loss and accuracy; or None."""
        return points(200, seed=0)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """A mean over records."""
        return functional.cross_entropy(outputs, targets)


def points(count: int, seed: int) -> Examples:
    """Stands for your data: points in a plane, of two classes."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (count,), generator=generator)
    places = torch.randn(count, 2, generator=generator) + 3 * labels.unsqueeze(1)
    return Examples(places, labels)
