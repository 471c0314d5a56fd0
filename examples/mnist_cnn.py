"""A small convolutional network on MNIST's files, as Yann LeCun published them.

    FEDPERM_TASK=examples/mnist_cnn.py:HandwrittenDigits FEDPERM_CLIENT_DATA_DIRECTORY=data

reads data/mnist/train-images-idx3-ubyte.gz and its three sisters.
"""

import gzip
import struct
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples, TaskContext


class HandwrittenDigits:
    def __init__(self, context: TaskContext) -> None:
        self.folder = context.data_directory / "mnist"
        self.own = slice(context.shard, None, context.shards)

    def model(self) -> nn.Module:
        """2,202 parameters. GroupNorm would be fine in it, BatchNorm would not: its statistics are
        no parameters, so they would not be averaged, and they tell about the records."""
        return nn.Sequential(
            nn.Conv2d(1, 4, kernel_size=5, stride=2),  # 28 x 28 pixels become 12 x 12
            nn.ReLU(),
            nn.Conv2d(4, 8, kernel_size=5, stride=2),  # and these 4 x 4
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(8 * 4 * 4, 10),
        )

    def training_data(self) -> Examples:
        images, labels = self._read("train")
        return Examples(images[self.own], labels[self.own])

    def test_data(self) -> Examples:
        return Examples(*self._read("t10k"))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(outputs, targets)

    def _read(self, part: str) -> tuple[Tensor, Tensor]:
        images = read_idx(self.folder / f"{part}-images-idx3-ubyte.gz")
        labels = read_idx(self.folder / f"{part}-labels-idx1-ubyte.gz")
        return images.float().unsqueeze(1) / 255, labels.long()


def read_idx(path: Path) -> Tensor:
    """Two zero octets, a type, the number of axes; their lengths; then one octet a value."""
    content = gzip.decompress(path.read_bytes())
    axes = content[3]
    start = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", content[4:start])
    return torch.frombuffer(bytearray(content), dtype=torch.uint8, offset=start).reshape(shape)
