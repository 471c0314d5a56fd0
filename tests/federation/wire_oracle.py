"""What the decrypted sum of a round must be, worked out from the uploads' bytes alone.

The independent judge of exactness: uploads are read with the safetensors library, masks are
decrypted with python-paillier, values put back in order and bounded by protocol.md's rule.
"""

import math
from typing import Any

import numpy as np
import phe
from numpy.typing import NDArray
from safetensors.numpy import load

from fedperm.run_document import RunDocument

Integers = NDArray[np.int64]


def unshuffled(upload: bytes, document: RunDocument, key: phe.PaillierPrivateKey) -> Integers:
    """The client's coded values, window by window, as its masks place them."""
    tensors = load(upload)
    values, masks = tensors["values"], tensors["masks"]
    packing = document.plan.layout.packing
    slot_bits, slots = packing.slot_bits, packing.slots
    rows = [_rows(pattern, slot_bits, slots, key) for pattern in masks]
    result = np.zeros(values.shape, np.int64)
    for window, shuffled in enumerate(values):
        result[window, rows[window % document.shuffle.k2]] = shuffled
    return result


def _rows(
    pattern: NDArray[np.uint8], slot_bits: int, slots: int, key: phe.PaillierPrivateKey
) -> list[int]:
    """Which row each column's single one stands in."""
    groups, columns, _ = pattern.shape
    found: list[int] = [-1] * columns
    for group in range(groups):
        for column in range(columns):
            plain = key.raw_decrypt(int.from_bytes(pattern[group, column].tobytes(), "little"))
            if plain:
                slot, rest = divmod(plain.bit_length() - 1, slot_bits)
                assert (plain.bit_count(), rest, found[column]) == (1, 0, -1)
                found[column] = group * slots + slot
    assert sorted(found) == list(range(columns))
    return found


def bounded(values: Integers, document: RunDocument) -> Integers:
    """protocol.md, norm bounding: in IEEE double precision, ties to even."""
    if document.norm_bound is None:
        return values
    reach = 0.5 + 8 * document.noise.laplace_scale
    step = 2 * reach / (2**document.value_bits - 1)
    start = 0.5 if document.norm_bound.form == "centred" else 0.0
    origin = (start - (0.5 - reach)) / step
    distance = values.astype(np.float64) - origin
    norm = step * math.sqrt(float((distance**2).sum()))
    if norm <= document.norm_bound.limit:
        return values
    target = document.norm_bound.limit - step * math.sqrt(values.size) / 2
    return np.rint(origin + (target / norm) * distance).astype(np.int64)


def expected_sum(
    uploads: list[bytes], document: RunDocument, key: phe.PaillierPrivateKey
) -> Integers:
    return sum(
        (bounded(unshuffled(upload, document, key), document) for upload in uploads),
        start=np.zeros((document.plan.geometry.windows, document.shuffle.k1), np.int64),
    )


def published_sum(body: bytes, document: RunDocument, key: phe.PaillierPrivateKey) -> Integers:
    """The sums in a published aggregate, by python-paillier."""
    packing = document.plan.layout.packing
    windows: list[list[Any]] = []
    for groups in load(body)["ciphertexts"]:
        slots: list[int] = []
        for group, raw in enumerate(groups):
            plain = key.raw_decrypt(int.from_bytes(raw.tobytes(), "little"))
            mask = (1 << packing.slot_bits) - 1
            slots += [
                plain >> (packing.slot_bits * slot) & mask for slot in range(packing.rows_in(group))
            ]
        windows.append(slots)
    return np.array(windows, np.int64)
