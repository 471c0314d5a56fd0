"""How good a model is on some records."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fedperm_client.tasks.task import Examples
from fedperm_client.training.per_example import Loss

_RECORDS_AT_ONCE = 2048


@dataclass(frozen=True)
class Evaluation:
    """`accuracy` is None where targets are no class labels."""

    loss: float
    accuracy: float | None


def evaluate(module: nn.Module, examples: Examples, loss: Loss) -> Evaluation:
    module.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for start in range(0, len(examples), _RECORDS_AT_ONCE):
            some = slice(start, start + _RECORDS_AT_ONCE)
            outputs, targets = module(examples.inputs[some]), examples.targets[some]
            total += float(loss(outputs, targets)) * len(targets)
            right += int((outputs.argmax(1) == targets).sum()) if _classify(outputs, targets) else 0
    is_known = _classify(outputs, targets)
    return Evaluation(total / len(examples), right / len(examples) if is_known else None)


def _classify(outputs: Tensor, targets: Tensor) -> bool:
    """Scores of classes and their numbers."""
    return outputs.ndim == 2 and targets.ndim == 1 and not targets.is_floating_point()
