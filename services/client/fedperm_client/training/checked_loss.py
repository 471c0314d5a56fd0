"""The loss of some records and its gradients, with the forms that training needs."""

import math

import torch
from torch import Tensor, nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import Examples
from fedperm_client.training.parameters import trainable
from fedperm_client.training.per_example import Loss
from fedperm_client.training.records import OWN

Gradients = dict[str, Tensor | None]
"""By tensor; None where the loss does not depend on it."""


def gradients(module: nn.Module, examples: Examples, loss: Loss) -> Gradients:
    value = _checked_loss(module, examples, loss)
    if not value.requires_grad:
        raise TaskError(
            "the loss does not depend on what is trained",
            "compute it from the outputs, without detach(), no_grad() or numpy",
        )
    check_is_finite(float(value.detach()), OWN)
    named = trainable(module)
    found = torch.autograd.grad(value, list(named.values()), allow_unused=True)
    return dict(zip(named, found, strict=True))


def check_are_finite(found: Gradients) -> None:
    for name, gradient in found.items():
        if gradient is not None and not bool(torch.isfinite(gradient.to_dense()).all()):
            raise TaskError(
                f"the gradient of {name} holds NaN or infinity, although the loss does not",
                "guard roots, norms, logarithms and divisions against 0: clamp before them, since "
                "torch.where only hides what they give",
            )


def check_is_finite(loss: float, part: str) -> None:
    if not math.isfinite(loss):
        raise TaskError(
            f"the loss on {part}() is {loss}",
            "scale the inputs, and guard logarithms and divisions against 0",
        )


def _checked_loss(module: nn.Module, examples: Examples, loss: Loss) -> Tensor:
    outputs: object = module(examples.inputs)
    if not isinstance(outputs, Tensor):
        raise TaskError(
            f"the model's output is {type(outputs).__name__}", "return one tensor from forward()"
        )
    value: object = loss(outputs, examples.targets)
    if not isinstance(value, Tensor):
        raise TaskError(
            f"loss() gives {type(value).__name__}", "return a tensor: without item() or numpy"
        )
    if value.ndim != 0:
        raise TaskError(
            f"the loss has the shape {list(value.shape)}, not that of one number",
            'return the mean over records: reduction="mean" in torch',
        )
    return value
