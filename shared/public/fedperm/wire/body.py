"""A safetensors body whose every byte but the data is known in advance.

The safetensors library accepts duplicate keys, hundreds of thousands of tensors and headers of
100 MB. A receiver here knows the one header it expects, so it compares bytes and parses nothing.
Tensors lie as the library itself would write them: wider types first, then by name.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import BodyError

MEDIA_TYPE = "application/vnd.safetensors"

_DTYPE_NAMES = {"|u1": "U8", "<u2": "U16", "<u4": "U32", "<f8": "F64"}
_LENGTH_PREFIX = 8
_EXPLAINED_HEADER = 4096
"""A wrong header up to this length is read to say what is wrong with it."""


@dataclass(frozen=True)
class Tensor:
    """Name, type and shape of one tensor."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape)) * self.dtype.itemsize

    def describe(self, offset: int) -> dict[str, Any]:
        """The tensor's entry in the header."""
        return {
            "dtype": _DTYPE_NAMES[self.dtype.str],
            "shape": list(self.shape),
            "data_offsets": [offset, offset + self.size],
        }


@dataclass(frozen=True)
class Body:
    """The one layout that a message of its kind has under a run's parameters."""

    tensors: tuple[Tensor, ...]

    @cached_property
    def ordered(self) -> tuple[Tensor, ...]:
        return tuple(sorted(self.tensors, key=lambda t: (-t.dtype.itemsize, t.name)))

    @cached_property
    def header(self) -> bytes:
        """Length prefix and JSON, padded with spaces to a multiple of 8."""
        text = json.dumps(self._entries(), separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(_LENGTH_PREFIX, "little") + text

    @property
    def size(self) -> int:
        """The exact length of the body in bytes: a receiver's limit."""
        return len(self.header) + sum(tensor.size for tensor in self.tensors)

    def offset_of(self, name: str) -> int:
        """Where a tensor's data begins, counted from the start of the body."""
        entry: dict[str, Any] = self._entries()[name]
        return len(self.header) + int(entry["data_offsets"][0])

    def encode(self, arrays: Mapping[str, NDArray[Any]]) -> bytes:
        """The body; an array of another shape or type than the layout's is refused."""
        for tensor in self.tensors:
            array = arrays[tensor.name]
            if (array.shape, array.dtype) != (tensor.shape, tensor.dtype):
                raise BodyError(
                    f"{tensor.name} is {array.dtype} {array.shape}, "
                    f"the layout says {tensor.dtype} {tensor.shape}",
                    "build the message from the same plan",
                )
        return self.header + b"".join(arrays[tensor.name].tobytes() for tensor in self.ordered)

    def decode(self, body: bytes | memoryview) -> dict[str, NDArray[Any]]:
        """Views into the body, without copying; anything unexpected is refused."""
        view = memoryview(body)
        if bytes(view[: len(self.header)]) != self.header:
            raise BodyError(self._explain(view), "send exactly the tensors that the protocol names")
        if len(view) != self.size:
            raise BodyError(
                f"the body has {len(view)} bytes, expected {self.size}",
                "send it whole and without compression",
            )
        return {tensor.name: self._view(view, tensor) for tensor in self.tensors}

    def digests(self, body: bytes | memoryview) -> dict[str, str]:
        """SHA-256 of each tensor's data, in hexadecimal; anything unexpected is refused."""
        return {
            name: hashlib.sha256(array.data).hexdigest()
            for name, array in self.decode(body).items()
        }

    def _entries(self) -> dict[str, Any]:
        entries, offset = {}, 0
        for tensor in self.ordered:
            entries[tensor.name] = tensor.describe(offset)
            offset += tensor.size
        return entries

    def _view(self, view: memoryview, tensor: Tensor) -> NDArray[Any]:
        flat = np.frombuffer(
            view, tensor.dtype, count=int(np.prod(tensor.shape)), offset=self.offset_of(tensor.name)
        )
        return flat.reshape(tensor.shape)

    def _explain(self, view: memoryview) -> str:
        """What differs from the expected header, for a person; reads a few kB at most."""
        if len(view) < len(self.header):
            return f"the body has {len(view)} bytes, too few for its header"
        length = int.from_bytes(view[:_LENGTH_PREFIX], "little")
        if length > min(_EXPLAINED_HEADER, len(view) - _LENGTH_PREFIX):
            return f"the header claims {length} bytes, expected {len(self.header) - _LENGTH_PREFIX}"
        try:
            found = json.loads(bytes(view[_LENGTH_PREFIX : _LENGTH_PREFIX + length]))
        except (ValueError, RecursionError):
            return "the header is not JSON"
        return _difference(found, self._entries())


def _difference(found: Any, expected: dict[str, Any]) -> str:
    if not isinstance(found, dict):
        return "the header is not a JSON object"
    for name, entry in expected.items():
        if name not in found:
            return f"tensor {name} is missing"
        if found[name] != entry:
            return f"tensor {name} is not {json.dumps(entry)}"
    if len(found) > len(expected):
        return f"{len(found) - len(expected)} unexpected header entries"
    return "the header is not the canonical one (key order, duplicates or white space)"
