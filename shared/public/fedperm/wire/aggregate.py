"""The encrypted aggregate on the wire: tensors `ciphertexts` and `contributors`."""

from itertools import islice

import numpy as np

from fedperm.averaging import check_aggregate_shape, check_contributors
from fedperm.planner import Plan
from fedperm.schemes.paillier.aggregation import EncryptedSum
from fedperm.schemes.paillier.ciphertexts import read_ciphertexts
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.body import Body, Tensor


def aggregate_body(plan: Plan, public_key: PublicKey) -> Body:
    plan.check_key(public_key)
    return Body(
        (
            Tensor("ciphertexts", np.dtype("u1"), _shape(plan, public_key)),
            Tensor("contributors", np.dtype("<u4"), (1,)),
        )
    )


def encode_aggregate(total: EncryptedSum, plan: Plan, public_key: PublicKey) -> bytes:
    """The body; a sum of other parameters or with an impossible count is refused."""
    check_aggregate_shape(total.ciphertexts, total.contributors, plan)
    body = aggregate_body(plan, public_key)
    octets = b"".join(public_key.to_bytes(c) for row in total.ciphertexts for c in row)
    return body.encode(
        {
            "ciphertexts": np.frombuffer(octets, np.uint8).reshape(_shape(plan, public_key)),
            "contributors": np.array([total.contributors], "<u4"),
        }
    )


def decode_aggregate(body: bytes | memoryview, plan: Plan, public_key: PublicKey) -> EncryptedSum:
    """The sum, or a typed refusal: an impossible count, or numbers that are no ciphertexts."""
    arrays = aggregate_body(plan, public_key).decode(body)
    contributors = int(arrays["contributors"][0])
    check_contributors(contributors, plan)
    ciphertexts = list(read_ciphertexts(arrays["ciphertexts"]))
    public_key.check_ciphertexts(ciphertexts)
    numbers = iter(ciphertexts)
    rows = tuple(tuple(islice(numbers, plan.packing.groups)) for _ in range(plan.geometry.windows))
    return EncryptedSum(rows, contributors)


def _shape(plan: Plan, public_key: PublicKey) -> tuple[int, int, int]:
    return plan.geometry.windows, plan.packing.groups, public_key.ciphertext_bytes
