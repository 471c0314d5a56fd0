"""A module's trainable parameters as one vector: in the order of `named_parameters()`, row by row.

The rest of a module is constant: frozen parameters and buffers. It does not travel, so all clients
must have the same, which a hash shows.
"""

import hashlib
from collections.abc import Iterator
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from fedperm.run_document import TensorSpec
from fedperm.wire.model import Parameters


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """What is trained, noised, sent and averaged."""
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def constants(module: nn.Module) -> dict[str, Tensor]:
    frozen = ((name, p) for name, p in module.named_parameters() if not p.requires_grad)
    return dict(chain(frozen, module.named_buffers()))


def constants_sha256(module: nn.Module) -> str | None:
    """Of names, types, shapes and values; None if everything is trained."""
    fixed = constants(module)
    if not fixed:
        return None
    digest = hashlib.sha256()
    for octets in _octets(fixed):
        digest.update(octets)
    return digest.hexdigest()


def tensors_of(module: nn.Module) -> tuple[TensorSpec, ...]:
    """As a run's document lists them."""
    return tuple(
        TensorSpec(name=name, shape=tuple(parameter.shape))
        for name, parameter in trainable(module).items()
    )


def flatten(module: nn.Module) -> Parameters:
    parts = [p.detach().cpu().double().reshape(-1) for p in trainable(module).values()]
    vector: Parameters = torch.cat(parts).numpy()
    return vector


def load(module: nn.Module, parameters: Parameters) -> None:
    """Copies the vector into the module, which keeps its own types (float32, say)."""
    start = 0
    with torch.no_grad():
        for parameter in trainable(module).values():
            part = parameters[start : start + parameter.numel()]
            values = torch.from_numpy(np.ascontiguousarray(part)).reshape(parameter.shape)
            parameter.copy_(values)
            start += parameter.numel()


def _octets(tensors: dict[str, Tensor]) -> Iterator[bytes]:
    for name, tensor in sorted(tensors.items()):
        yield f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode()
        yield tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
