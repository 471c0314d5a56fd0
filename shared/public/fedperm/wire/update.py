"""A client's update on the wire: tensors `values` and `masks`.

Ciphertexts are little-endian numbers of fixed width. What cannot be seen (whether a mask is a
permutation) is not checked here; what can be seen is checked in full.
"""

import numpy as np

from fedperm.errors import ValueRangeError
from fedperm.planner import Plan
from fedperm.schemes.paillier.ciphertexts import read_ciphertexts
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.update import Update
from fedperm.wire.body import Body, Tensor


def update_body(plan: Plan, public_key: PublicKey) -> Body:
    plan.check_key(public_key)
    geometry = plan.geometry
    return Body(
        (
            Tensor("values", plan.fixed_point.dtype, (geometry.windows, geometry.k1)),
            Tensor(
                "masks",
                np.dtype("u1"),
                (
                    geometry.patterns,
                    plan.packing.groups,
                    geometry.k1,
                    public_key.ciphertext_bytes,
                ),
            ),
        )
    )


def encode_update(update: Update, plan: Plan, public_key: PublicKey) -> bytes:
    return update_body(plan, public_key).encode({"values": update.values, "masks": update.masks})


def decode_update(body: bytes | memoryview, plan: Plan, public_key: PublicKey) -> Update:
    """The update as views into the body, or a typed refusal; big-integer work, keep off loops."""
    arrays = update_body(plan, public_key).decode(body)
    update = Update(arrays["values"], arrays["masks"])
    if int(update.values.max()) > plan.fixed_point.top:
        raise ValueRangeError(
            f"a value exceeds {plan.fixed_point.top}",
            f"code values with {plan.fixed_point.value_bits} bits",
        )
    public_key.check_ciphertexts(read_ciphertexts(update.masks))
    return update
