"""One full-batch step on per-example clipped gradients: what the record-level guarantee needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from fedperm.errors import ParameterError
from fedperm_client.training import softmax_regression
from fedperm_client.training.model_check import check_per_example

Loss = Callable[[Tensor, Tensor], Tensor]
"""From the outputs and targets of a batch of one to a scalar."""

_VALUES_AT_ONCE = 1 << 24
"""Per-example gradients held at once, 128 MB of float64: larger batches are summed in parts."""


@dataclass(frozen=True)
class ClippedStep:
    """The update -lr * mean of gradients clipped to L2 norm G: see fedperm.privacy.record_level."""

    learning_rate: float
    clip_norm: float
    loss: Loss = functional.cross_entropy

    def update(self, module: nn.Module, inputs: Tensor, targets: Tensor) -> NDArray[np.float64]:
        gradient = mean_clipped_gradient(module, inputs, targets, self.clip_norm, self.loss)
        return -self.learning_rate * gradient


def mean_clipped_gradient(
    module: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    clip_norm: float,
    loss: Loss = functional.cross_entropy,
) -> NDArray[np.float64]:
    """Mean over examples of gradients clipped to `clip_norm`, flat as in `module.parameters()`.

    Everything is computed in float64, so that rounding stays within the guarantee's margin.
    """
    _check_batch(inputs, targets, clip_norm)
    check_per_example(module)
    inputs = _double(inputs)
    layer = softmax_regression.linear_layer(module)
    with torch.no_grad():
        if layer is not None and loss is functional.cross_entropy and targets.ndim == 1:
            parts = softmax_regression.clipped_gradients(layer, inputs, targets, clip_norm)
        else:
            parts = _clipped_gradients(module, inputs, _double(targets), clip_norm, loss)
    return _flat(parts)


def _clipped_gradients(
    module: nn.Module, inputs: Tensor, targets: Tensor, clip_norm: float, loss: Loss
) -> list[Tensor]:
    """The mean of clipped gradients of any module, by vmap over examples."""
    parameters = {name: p.detach().double() for name, p in module.named_parameters()}

    def loss_of_one(values: dict[str, Tensor], example: Tensor, target: Tensor) -> Tensor:
        output = functional_call(module, values, (example.unsqueeze(0),))
        return loss(output, target.unsqueeze(0))

    per_example = vmap(grad(loss_of_one), in_dims=(None, 0, 0))
    at_once = max(1, _VALUES_AT_ONCE // sum(p.numel() for p in parameters.values()))
    sums = [torch.zeros_like(p) for p in parameters.values()]
    for some, their in _batches(inputs, targets, at_once):
        gradients = per_example(parameters, some, their)
        for total, part in zip(sums, _clipped_sums(gradients, clip_norm), strict=True):
            total.add_(part)
    return [total / len(inputs) for total in sums]


def _batches(inputs: Tensor, targets: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(inputs), size):
        yield inputs[start : start + size], targets[start : start + size]


def _clipped_sums(gradients: dict[str, Tensor], clip_norm: float) -> list[Tensor]:
    """Sums over examples, each scaled so that all its parts together have at most the norm."""
    matrices = [part.flatten(1) for part in gradients.values()]
    norms = torch.stack([matrix.square().sum(1) for matrix in matrices]).sum(0).sqrt()
    factors = (clip_norm / norms).clamp(max=1.0)
    return [torch.tensordot(factors, part, dims=1) for part in gradients.values()]


def _double(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _flat(parts: list[Tensor]) -> NDArray[np.float64]:
    vector: NDArray[np.float64] = torch.cat([part.flatten() for part in parts]).cpu().numpy()
    return vector


def _check_batch(inputs: Tensor, targets: Tensor, clip_norm: float) -> None:
    if not (np.isfinite(clip_norm) and clip_norm > 0):
        raise ParameterError(f"the per-example clip G is {clip_norm}", "choose a positive number")
    if len(inputs) == 0 or len(inputs) != len(targets):
        raise ParameterError(
            f"{len(inputs)} inputs and {len(targets)} targets", "hand in one target for each input"
        )
