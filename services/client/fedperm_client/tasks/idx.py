"""The idx format of MNIST: two zero octets, a type, the number of axes, their lengths, data."""

import math
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm_client.errors import TaskError

_UNSIGNED_OCTETS = 8
_MOST_AXES = 3


def parse_idx(octets: bytes, name: str) -> NDArray[Any]:
    """Unsigned octets of any shape up to images; `name` is for the error."""
    if len(octets) < 4 or octets[:3] != bytes([0, 0, _UNSIGNED_OCTETS]):
        raise _wrong(name, "it does not begin as an idx file of unsigned octets")
    axes = octets[3]
    start = 4 + 4 * axes
    if not 1 <= axes <= _MOST_AXES or len(octets) < start:
        raise _wrong(name, f"it claims {axes} axes")
    shape = struct.unpack(f">{axes}I", octets[4:start])
    if len(octets) - start != math.prod(shape):
        raise _wrong(name, f"it holds {len(octets) - start:,} octets for the shape {shape}")
    return np.frombuffer(octets, np.uint8, offset=start).reshape(shape)


def _wrong(name: str, why: str) -> TaskError:
    return TaskError(f"{name} is damaged: {why}", "remove it and fetch it again")
