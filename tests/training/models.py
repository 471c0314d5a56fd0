"""Small models and data with fixed values, drawn from generators of their own."""

import torch
from torch import Tensor, nn

CLASSES, FEATURES = 4, 6


def filled(module: nn.Module, seed: int) -> nn.Module:
    """The module with every parameter drawn anew."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(generator=generator)
    return module


def batch(count: int, seed: int, shape: tuple[int, ...] = (FEATURES,)) -> tuple[Tensor, Tensor]:
    """Inputs of very different lengths, so that some gradients are clipped and some are not."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.logspace(-2, 1, count).reshape(count, *[1] * len(shape))
    inputs = torch.randn(count, *shape, generator=generator) * lengths
    return inputs, torch.randint(CLASSES, (count,), generator=generator)


def linear(*, bias: bool) -> nn.Module:
    return nn.Linear(FEATURES, CLASSES, bias=bias)


def flat_linear() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(FEATURES, CLASSES))


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, CLASSES))


def convolution() -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)),
        nn.Conv2d(1, 4, 2),
        nn.GroupNorm(2, 4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8, CLASSES),
    )
