"""How good a model is on some records."""

from dataclasses import dataclass

import torch
from torch import nn

from fedperm_client.tasks.task import Examples
from fedperm_client.training.accuracy import count_right
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
            count = count_right(outputs, examples.targets, loss)
            right += 0 if count is None else count(outputs, targets)
    return Evaluation(total / len(examples), None if count is None else right / len(examples))
