"""What the built-in tasks share: labelled grey images, dealt out to clients."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import nn
from torch.nn import functional

from fedperm.wire.message import Lax, Message
from fedperm_client.errors import TaskError
from fedperm_client.tasks.filters import FilterName, filtered
from fedperm_client.tasks.models import ModelName, classifier
from fedperm_client.tasks.options import read_options
from fedperm_client.tasks.partition import Partition
from fedperm_client.tasks.task import Examples, TaskContext

CLASSES = 10


class ImageOptions(Message):
    """`alpha`, `seed` and `min_records` are the partition's."""

    model: Lax[ModelName] = ModelName.LOGISTIC
    filter: Lax[FilterName] = FilterName.NONE
    hidden: Annotated[int, Field(ge=1, le=1 << 16)] = 32
    alpha: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    min_records: Annotated[int, Field(ge=1)] = 10


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Pixels 0 .. `brightest`, one image a row."""

    pixels: NDArray[Any]
    labels: NDArray[Any]
    brightest: int

    def examples(self, filter_name: FilterName) -> Examples:
        """One channel, 0 .. 1 before the filter."""
        pixels = self.pixels.astype(np.float32) / np.float32(self.brightest)
        inputs = torch.from_numpy(filtered(pixels, filter_name)).unsqueeze(1)
        return Examples(inputs, torch.from_numpy(self.labels.astype(np.int64)))

    def only(self, records: NDArray[Any]) -> "LabelledImages":
        return LabelledImages(self.pixels[records], self.labels[records], self.brightest)


class ImageTask(ABC):
    """A classification task; subclasses say where the images come from."""

    side: ClassVar[int]
    loss = staticmethod(functional.cross_entropy)

    def __init__(self, context: TaskContext) -> None:
        if not 0 <= context.shard < context.shards:
            raise TaskError(
                f"shard {context.shard} of {context.shards}",
                "count shards from 0, or ask for a run with more of them",
            )
        self.context = context
        self.options = read_options(context.options, ImageOptions)
        _check_filter(self.options)

    @abstractmethod
    def everybodys(self) -> LabelledImages:
        """The training images of all shards."""

    @abstractmethod
    def public(self) -> LabelledImages:
        """The test images."""

    def model(self) -> nn.Module:
        options = self.options
        return classifier(options.model, side=self.side, classes=CLASSES, hidden=options.hidden)

    def training_data(self) -> Examples:
        images = self.everybodys()
        options = self.options
        partition = Partition(self.context.shards, options.alpha, options.seed, options.min_records)
        own = partition.cut(images.labels)[self.context.shard]
        return images.only(own).examples(options.filter)

    def test_data(self) -> Examples | None:
        return self.public().examples(self.options.filter)


def _check_filter(options: ImageOptions) -> None:
    if options.model is ModelName.CNN and options.filter is not FilterName.NONE:
        raise TaskError(
            f"what the filter {options.filter} gives is no picture: neighbours mean nothing",
            "use the filter none, or the model logistic or mlp",
        )
