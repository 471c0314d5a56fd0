"""The closed form of clipped gradients for a linear model with cross entropy.

The gradient of one example is an outer product: its norm needs no gradient to be written down.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules import module as torch_modules

from fedperm_client.training.clip_factors import clipped
from fedperm_client.training.parameters import trainable

_VALUES_AT_ONCE = 1 << 19
"""Inputs held as float64 at once, 4 MB: they stay in the processor's cache between two uses."""


def linear_layer(module: nn.Module) -> nn.Linear | None:
    """The only layer of a linear model, flattening aside; None for any other module.

    The types are compared exactly: a subclass may compute something else. So may a module with
    hooks, with another forward, or with parameters that are not plainly W and c.
    """
    layers = list(module) if type(module) is nn.Sequential else [module]
    layers = [layer for layer in layers if not _flattens(layer)]
    only = layers[0] if len(layers) == 1 else None
    if type(only) is not nn.Linear or _is_altered(module):
        return None
    return only if _is_plain(only) and _owns_all(only, module) else None


def takes_rows(module: nn.Module, inputs: Tensor) -> bool:
    """Whether the layer gets each example as one row: a linear layer alone does not flatten."""
    first = module[0] if type(module) is nn.Sequential else module
    return inputs.ndim == 2 or (inputs.ndim > 2 and _flattens(first))


def _flattens(layer: nn.Module) -> bool:
    return type(layer) is nn.Flatten and (layer.start_dim, layer.end_dim) == (1, -1)


def _is_altered(module: nn.Module) -> bool:
    """Whether calling the module, or a part of it, does more or other than its type says."""
    everywhere = torch_modules._global_forward_hooks or torch_modules._global_forward_pre_hooks
    return bool(everywhere) or any(
        part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
        for part in module.modules()
    )


def _is_plain(layer: nn.Linear) -> bool:
    """W, then c if there is one, and both trained parameters: weight_norm, say, has others."""
    expected = ["weight"] if layer.bias is None else ["weight", "bias"]
    return list(trainable(layer)) == expected


def _owns_all(layer: nn.Linear, module: nn.Module) -> bool:
    """Whether the module has no parameters beside the layer's."""
    return len(list(layer.parameters())) == len(list(module.parameters()))


def clipped_gradients(
    layer: nn.Linear, inputs: Tensor, labels: Tensor, clip_norm: float
) -> list[Tensor]:
    """Mean of the clipped gradients, one tensor a parameter."""
    total = torch.zeros(layer.out_features, layer.in_features + 1, dtype=torch.float64)
    at_once = max(1, _VALUES_AT_ONCE // layer.in_features)
    for start in range(0, len(inputs), at_once):
        some = slice(start, start + at_once)
        residual, flat = _clipped_residuals(layer, inputs[some], labels[some], clip_norm)
        total[:, :-1].addmm_(residual.T, flat)
        total[:, -1].add_(residual.sum(0))
    mean = total / len(inputs)
    return [mean[:, :-1]] if layer.bias is None else [mean[:, :-1], mean[:, -1]]


def _clipped_residuals(
    layer: nn.Linear, inputs: Tensor, labels: Tensor, clip_norm: float
) -> tuple[Tensor, Tensor]:
    """With r = softmax(Wx + c) - onehot(y), the gradient is r x^T for W and r for c; together they
    have the norm |r| sqrt(|x|^2 + 1), or |r| |x| where there is no c. The r, scaled, and the x."""
    flat = inputs.flatten(1).double()
    bias = None if layer.bias is None else layer.bias.double()
    logits = functional.linear(flat, layer.weight.double(), bias)
    residual = logits.softmax(1) - functional.one_hot(labels, layer.out_features)
    with_bias = 0.0 if bias is None else 1.0
    norms = residual.norm(dim=1) * torch.sqrt(flat.norm(dim=1).square() + with_bias)
    factors, (residual, flat) = clipped(norms, clip_norm, [residual, flat])
    return residual * factors.unsqueeze(1), flat
