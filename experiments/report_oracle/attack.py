"""An aggregate of the aggregator's own making that asks where a client's columns belong.

It needs the public key and an upload, which every aggregator has: sums of its choice, encrypted
afresh, times the victim's masks raised to powers of its choice. What column j holds is added
`powers[j]` times at the secret place of column j, and nowhere else.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum, encode_aggregate
from fedperm.planner import Plan
from fedperm.schemes.paillier.public_key import PublicKey, read_ciphertexts

Sums = NDArray[np.int64]
"""Of windows of k1 positions."""


def own_aggregate(
    sums: Sums,
    masks: NDArray[np.uint8],
    powers: Mapping[int, int],
    plan: Plan,
    key: PublicKey,
    contributors: int,
    randomness: Random,
) -> bytes:
    """`masks` are one pattern's, (groups, columns, octets); they are used in every window."""
    groups = [list(read_ciphertexts(group)) for group in masks]
    ciphertexts = [
        _question(plaintext, group, powers, key, randomness)
        for window in sums
        for plaintext, group in zip(_packed(window, plan), groups, strict=True)
    ]
    arrays = {"ciphertexts": key.to_array(ciphertexts, len(sums), len(groups))}
    return encode_aggregate(EncryptedSum(arrays, contributors), plan)


def _question(
    plaintext: mpz,
    masks: Sequence[mpz],
    powers: Mapping[int, int],
    key: PublicKey,
    randomness: Random,
) -> mpz:
    ciphertext = key.encrypt(plaintext, key.blinding_factor(key.draw_unit(randomness)))
    for column, power in powers.items():
        ciphertext = (
            ciphertext * gmpy2.powmod(masks[column], mpz(power), key.n_squared) % key.n_squared
        )
    return ciphertext


def _packed(window: NDArray[np.int64], plan: Plan) -> list[mpz]:
    """A plaintext a group: row r is slot r mod L of group r / L."""
    layout: Any = plan.layout
    packing = layout.packing
    return [
        mpz(sum(int(value) << (packing.slot_bits * slot) for slot, value in enumerate(rows)))
        for rows in (
            window[start : start + packing.slots] for start in range(0, len(window), packing.slots)
        )
    ]
