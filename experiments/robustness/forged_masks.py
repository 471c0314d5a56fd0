"""Masks that are no permutation, encrypted: what `Upload.factor` stands for, on the wire.

A mask holds `factor` where the 1 of a permutation belongs. One column, whose values are all 1/2,
holds 1 - factor in every row: so 1/2 stays 1/2 and no slot overflows. Every ciphertext is as good
as any other, and the aggregator cannot see it.
"""

from random import Random
from typing import Any

from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.permutation import Permutation, draw_patterns, shuffle
from fedperm.planner import Plan
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.layout import PackedLayout
from fedperm.schemes.scheme import Arrays

COUNTERWEIGHT = 0
"""The position of a shuffled window that holds 1/2."""


def forged_update(
    coded: NDArray[Any], factor: int, plan: Plan, pool: BlindingPool, randomness: Random
) -> Arrays:
    """What the counterweight's position held is given up."""
    layout = plan.layout
    assert isinstance(layout, PackedLayout)  # noqa: S101 (the attack is on Paillier's masks)
    patterns = draw_patterns(plan.geometry, randomness)
    values = shuffle(coded, patterns, plan.geometry)
    values[:, COUNTERWEIGHT] = (plan.fixed_point.top + 1) // 2
    key, groups = pool.public_key, layout.packing.groups
    ciphertexts = (
        key.encrypt(plaintext % key.n, pool.take(1)[0])
        for pattern in patterns
        for group in range(groups)
        for plaintext in _column_plaintexts(pattern, group, factor, layout)
    )
    masks = key.to_array(ciphertexts, len(patterns), groups, plan.geometry.k1)
    return {"values": values, "masks": masks}


def _column_plaintexts(
    pattern: Permutation, group: int, factor: int, layout: PackedLayout
) -> list[mpz]:
    """One a column: the rows of one group, packed."""
    packing = layout.packing
    first, rows = group * packing.slots, packing.rows_in(group)
    plaintexts = [mpz(0)] * layout.geometry.k1
    for column, row in enumerate(pattern.tolist()):
        if first <= row < first + rows:
            plaintexts[column] += factor * packing.unit(row - first)
    for slot in range(rows):
        plaintexts[COUNTERWEIGHT] += (1 - factor) * packing.unit(slot)
    return plaintexts
