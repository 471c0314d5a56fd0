"""One full-batch step on per-example clipped gradients: what the record-level guarantee needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from fedperm.errors import ParameterError, PreconditionError
from fedperm.privacy.record_level import LocalTraining
from fedperm_client.training import softmax_regression
from fedperm_client.training.clip_factors import clipped
from fedperm_client.training.data_check import (
    check_classes,
    check_inputs,
    check_labels,
    check_targets,
)
from fedperm_client.training.model_check import check_per_example
from fedperm_client.training.parameters import constants, trainable
from fedperm_client.training.vmap_errors import refusals_in_words

Loss = Callable[[Tensor, Tensor], Tensor]
"""From the outputs and targets of a batch of one to a scalar."""

_VALUES_AT_ONCE = 1 << 24
"""Per-example gradients held at once, 128 MB of float64: larger batches are summed in parts."""


@dataclass(frozen=True)
class ClippedStep:
    """The update -lr * mean of gradients clipped to L2 norm G: see fedperm.privacy.record_level.

    lr, G and the least number of records are read from the training that the guarantee was
    computed for: stated once, they cannot differ from what is promised.
    """

    training: LocalTraining
    loss: Loss = functional.cross_entropy

    def __post_init__(self) -> None:
        _promised_clip_norm(self.training)

    def update(self, module: nn.Module, inputs: Tensor, targets: Tensor) -> NDArray[np.float64]:
        self._check_records(len(inputs))
        clip_norm = _promised_clip_norm(self.training)
        gradient = mean_clipped_gradient(module, inputs, targets, clip_norm, self.loss)
        return -self.training.learning_rate * gradient

    def _check_records(self, count: int) -> None:
        """Fewer records than promised move the mean further; more are fine."""
        if count < self.training.records:
            raise PreconditionError(
                f"{count:,} records, but the record-level guarantee is for at least "
                f"{self.training.records:,}",
                "stay out of this run, or compute its noise for the smallest client",
            )


def _promised_clip_norm(training: LocalTraining) -> float:
    """G, if the training is the one step that has a guarantee."""
    if training.clip_norm is None or training.why_unbounded is not None:
        raise PreconditionError(
            f"no clipped step keeps this promise: {training.why_unbounded}",
            "set clip_norm, local_steps=1 and full_batch=True",
        )
    return training.clip_norm


def mean_clipped_gradient(
    module: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    clip_norm: float,
    loss: Loss = functional.cross_entropy,
) -> NDArray[np.float64]:
    """Mean over examples of gradients clipped to `clip_norm`, flat as `parameters` has them.

    A gradient that is not finite, or whose norm is not, counts as zero, which is within the norm.
    To fail instead would tell others that there is such a record.
    Everything is computed in float64, so that rounding stays within the guarantee's margin.
    """
    _check_batch(inputs, targets, clip_norm)
    check_per_example(module)
    check_inputs(module, inputs)
    check_targets(targets)
    with torch.no_grad():
        if loss is functional.cross_entropy and _are_labels(targets):
            return _flat(_of_labels(module, inputs, targets, clip_norm))
        return _flat(_clipped_gradients(module, inputs, targets, clip_norm, loss))


def _are_labels(targets: Tensor) -> bool:
    """Class indices: one an example, or of any shape if they are no probabilities."""
    return targets.ndim == 1 or not targets.is_floating_point()


def _of_labels(module: nn.Module, inputs: Tensor, labels: Tensor, clip_norm: float) -> list[Tensor]:
    """Cross entropy with class indices: the closed form where there is one."""
    check_labels(labels)
    largest = int(labels.max())
    layer = softmax_regression.linear_layer(module)
    if layer is not None and labels.ndim == 1 and softmax_regression.takes_rows(module, inputs):
        check_classes(largest, layer.out_features)
        return softmax_regression.clipped_gradients(layer, inputs, labels, clip_norm)

    def checked_loss(output: Tensor, label: Tensor) -> Tensor:
        """Only the output tells how many classes any module has."""
        check_classes(largest, output.shape[1])
        return functional.cross_entropy(output, label)

    return _clipped_gradients(module, inputs, labels, clip_norm, checked_loss)


def _clipped_gradients(
    module: nn.Module, inputs: Tensor, targets: Tensor, clip_norm: float, loss: Loss
) -> list[Tensor]:
    """The mean of clipped gradients of any module, by vmap over examples."""
    parameters = {name: p.detach().double() for name, p in trainable(module).items()}
    at_once = max(1, _VALUES_AT_ONCE // sum(p.numel() for p in parameters.values()))
    sums = [torch.zeros_like(p) for p in parameters.values()]
    for some, their in _batches(inputs, targets, at_once):
        per_example = vmap(grad(_loss_of_one(module, loss)), in_dims=(None, 0, 0))
        with refusals_in_words():
            gradients = per_example(parameters, _double(some), _double(their))
        for total, part in zip(sums, _clipped_sums(gradients, clip_norm), strict=True):
            total.add_(part)
    return [total / len(inputs) for total in sums]


def _loss_of_one(
    module: nn.Module, loss: Loss
) -> Callable[[dict[str, Tensor], Tensor, Tensor], Tensor]:
    """The loss of one example as a function of the parameters.

    Constants are copies: should the module write to them, nothing stays for the examples after.
    """
    fixed = {name: _double(c.detach().clone()) for name, c in constants(module).items()}

    def loss_of_one(values: dict[str, Tensor], example: Tensor, target: Tensor) -> Tensor:
        output = functional_call(module, (values, fixed), (example.unsqueeze(0),))
        return loss(output, target.unsqueeze(0))

    return loss_of_one


def _batches(inputs: Tensor, targets: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(inputs), size):
        yield inputs[start : start + size], targets[start : start + size]


def _clipped_sums(gradients: dict[str, Tensor], clip_norm: float) -> list[Tensor]:
    """Sums over examples, each scaled so that all its parts together have at most the norm."""
    matrices = [part.flatten(1) for part in gradients.values()]
    norms = torch.stack([matrix.square().sum(1) for matrix in matrices]).sum(0).sqrt()
    factors, parts = clipped(norms, clip_norm, list(gradients.values()))
    return [torch.tensordot(factors, part, dims=1) for part in parts]


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
