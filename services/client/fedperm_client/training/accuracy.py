"""Which records a model puts into the right class, where outputs stand for classes at all."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from fedperm_client.training.per_example import Loss

CountRight = Callable[[Tensor, Tensor], int]
"""From outputs and targets to the number of records whose class is the right one."""


def count_right(outputs: Tensor, targets: Tensor, loss: Loss) -> CountRight | None:
    """None if targets are no classes. `outputs` are of some records, `targets` of all."""
    if outputs[0].numel() == 1 and targets[0].numel() == 1:
        return partial(_above, _border(outputs, targets, loss)) if _are_two(targets) else None
    are_scores = outputs.ndim == 2 and targets.ndim == 1 and not targets.is_floating_point()
    return _largest if are_scores else None


def _largest(outputs: Tensor, targets: Tensor) -> int:
    return int((outputs.argmax(1) == targets).sum())


def _above(border: float, outputs: Tensor, targets: Tensor) -> int:
    return int(((outputs > border).flatten() == targets.flatten()).sum())


def _are_two(targets: Tensor) -> bool:
    """Classes 0 and 1, maybe as floats, as binary cross entropy takes them."""
    ones = int((targets == 1).sum())
    has_both = 0 < ones < len(targets) or not targets.is_floating_point()
    return has_both and ones + int((targets == 0).sum()) == len(targets)


def _border(outputs: Tensor, targets: Tensor, loss: Loss) -> float:
    """Between the outputs of two classes: 0 for logits, a half for probabilities. Only the loss
    knows. Below 0 it goes on falling for logits of class 0, and rises or fails for the others."""
    one, class_0 = torch.zeros_like(outputs[:1]), torch.zeros_like(targets[:1])
    try:
        return 0.0 if bool(loss(one - 1, class_0) < loss(one, class_0)) else 0.5
    except Exception:
        return 0.5
