"""Which inputs and targets have gradients: the rest is refused in words before torch fails."""

import torch
from torch import Tensor, nn

from fedperm_client.training.errors import PerExampleError


def check_inputs(module: nn.Module, inputs: Tensor) -> None:
    """Finite floats; whole numbers only where the module looks them up in an embedding."""
    if not inputs.is_floating_point() and not _embeds(module):
        raise PerExampleError(
            f"the inputs are {inputs.dtype}, the model computes with floats",
            "hand in inputs.double(); whole numbers are for models with an nn.Embedding",
        )
    _check_finite("inputs", inputs)


def check_targets(targets: Tensor) -> None:
    _check_finite("targets", targets)


def check_labels(labels: Tensor) -> None:
    """Class indices as cross entropy takes them; the largest is checked where classes are known.

    The -100 that torch ignores is refused: a record without a gradient is still one of the m.
    """
    if labels.dtype != torch.int64:
        raise PerExampleError(f"the labels are {labels.dtype}", "hand in labels.long()")
    if labels.numel() and int(labels.min()) < 0:
        raise PerExampleError(
            f"a label is {int(labels.min())}",
            "number the classes from 0, and leave out records without a label",
        )


def check_classes(largest_label: int, classes: int) -> None:
    if largest_label >= classes:
        raise PerExampleError(
            f"a label is {largest_label}, but the model has {classes} classes",
            "number the classes from 0, or give the model more outputs",
        )


def _check_finite(name: str, tensor: Tensor) -> None:
    """Every round and over all records: only where their sum is not finite are they looked at one
    by one, since large numbers may overflow it."""
    if not bool(torch.isfinite(tensor.sum()) or torch.isfinite(tensor).all()):
        raise PerExampleError(
            f"the {name} hold NaN or infinity: they have no gradient to clip",
            "repair or leave out such records",
        )


def _embeds(module: nn.Module) -> bool:
    return any(isinstance(part, nn.Embedding | nn.EmbeddingBag) for part in module.modules())
