"""The closed form of clipped gradients for a linear model with cross entropy.

The gradient of one example is an outer product: its norm needs no gradient to be written down.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


def linear_layer(module: nn.Module) -> nn.Linear | None:
    """The only layer of a linear model, flattening aside; None for any other module.

    The types are compared exactly: a subclass may compute something else.
    """
    layers = list(module) if type(module) is nn.Sequential else [module]
    layers = [layer for layer in layers if not _flattens(layer)]
    only = layers[0] if len(layers) == 1 else None
    return only if type(only) is nn.Linear else None


def _flattens(layer: nn.Module) -> bool:
    return type(layer) is nn.Flatten and (layer.start_dim, layer.end_dim) == (1, -1)


def clipped_gradients(
    layer: nn.Linear, inputs: Tensor, labels: Tensor, clip_norm: float
) -> list[Tensor]:
    """Mean of the clipped gradients, one tensor a parameter.

    With r = softmax(Wx + c) - onehot(y), the gradient is r x^T for W and r for c; together they
    have the norm |r| sqrt(|x|^2 + 1), or |r| |x| where there is no c.
    """
    flat = inputs.flatten(1).double()
    bias = None if layer.bias is None else layer.bias.double()
    logits = functional.linear(flat, layer.weight.double(), bias)
    residual = logits.softmax(1) - functional.one_hot(labels, layer.out_features)
    with_bias = 0.0 if bias is None else 1.0
    norms = residual.norm(dim=1) * torch.sqrt(flat.square().sum(1) + with_bias)
    scaled = residual * ((clip_norm / norms).clamp(max=1.0) / len(flat)).unsqueeze(1)
    weight = scaled.T @ flat
    return [weight] if bias is None else [weight, scaled.sum(0)]
