"""A module's parameters as one vector: in the order of `named_parameters()`, row by row."""

import numpy as np
import torch
from torch import nn

from fedperm.run_document import TensorSpec
from fedperm.wire.model import Parameters


def tensors_of(module: nn.Module) -> tuple[TensorSpec, ...]:
    """As a run's document lists them."""
    return tuple(
        TensorSpec(name=name, shape=tuple(parameter.shape))
        for name, parameter in module.named_parameters()
    )


def flatten(module: nn.Module) -> Parameters:
    parts = [p.detach().cpu().double().reshape(-1) for p in module.parameters()]
    vector: Parameters = torch.cat(parts).numpy()
    return vector


def load(module: nn.Module, parameters: Parameters) -> None:
    """Copies the vector into the module, which keeps its own types (float32, say)."""
    start = 0
    with torch.no_grad():
        for parameter in module.parameters():
            part = parameters[start : start + parameter.numel()]
            values = torch.from_numpy(np.ascontiguousarray(part)).reshape(parameter.shape)
            parameter.copy_(values)
            start += parameter.numel()
