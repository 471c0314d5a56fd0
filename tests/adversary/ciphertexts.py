"""What anybody can do with Paillier ciphertexts who has the public key, and no other."""

from collections.abc import Sequence
from itertools import permutations

import gmpy2
import numpy as np
from gmpy2 import mpz

from fedperm.planner import Plan
from fedperm.schemes.paillier.public_key import PublicKey
from tests.core.federation import checked, terms_of


def masks_in(body: bytes, plan: Plan, key: PublicKey) -> list[mpz]:
    """All ciphertexts of an upload."""
    masks = checked(body, plan, key)["masks"]
    flat = masks.reshape(-1, key.ciphertext_bytes)
    return [mpz(int.from_bytes(row.tobytes(), "little")) for row in flat]


def tells_apart(ciphertexts: Sequence[mpz], plan: Plan, key: PublicKey) -> bool:
    """Whether one of them is known to hold another slot's unit than some other: divided by each
    other, two under one blinding factor show the difference of what they hold."""
    packing = plan.layout.packing
    units = [mpz(0), *(packing.unit(slot) for slot in range(packing.slots))]
    differences = {key.message_factor((u - v) % key.n) for u, v in permutations(units, 2)}
    ratios = {
        a * gmpy2.invert(b, key.n_squared) % key.n_squared for a, b in permutations(ciphertexts, 2)
    }
    unblinded = {key.message_factor(unit) for unit in units}
    return bool(ratios & (differences | {mpz(1)}) or set(ciphertexts) & unblinded)


def with_mask_times(factor: int, column: int, body: bytes, plan: Plan, key: PublicKey) -> bytes:
    """The upload whose first pattern holds `factor` where it held a 1 in this column."""
    update = checked(body, plan, key)
    masks = np.array(update["masks"])
    for group in range(plan.layout.packing.groups):
        ciphertext = int.from_bytes(masks[0, group, column].tobytes(), "little")
        scaled = gmpy2.powmod(ciphertext, factor, key.n_squared)
        masks[0, group, column] = np.frombuffer(key.to_bytes(scaled), np.uint8)
    return terms_of(plan, key).body.encode({**update, "masks": masks})
