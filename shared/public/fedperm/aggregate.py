"""The aggregate of a round: the encrypted sum, its body on the wire, and the average it opens to.

Nothing decrypted goes into an error: an error travels, and the aggregator may provoke it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import AggregateError
from fedperm.normalisation import denormalise
from fedperm.planner import Plan
from fedperm.schemes.scheme import Arrays, PublicHalf
from fedperm.wire.body import Body, Tensor

_COUNT = Tensor("contributors", np.dtype("<u4"), (1,))


@dataclass(frozen=True, eq=False)
class EncryptedSum:
    """Tensors as the scheme's layout has them, of the sum over `contributors` clients."""

    arrays: Arrays
    contributors: int


def aggregate_body(plan: Plan) -> Body:
    return Body((*plan.layout.sums, _COUNT))


def encode_aggregate(total: EncryptedSum, plan: Plan) -> bytes:
    """The body; a sum of other parameters or with an impossible count is refused."""
    _check_contributors(total.contributors, plan)
    count = np.array([total.contributors], _COUNT.dtype)
    return aggregate_body(plan).encode({**total.arrays, _COUNT.name: count})


def decode_aggregate(body: bytes | memoryview, plan: Plan, half: PublicHalf) -> EncryptedSum:
    """The sum, or a typed refusal: an impossible count, or numbers that are no ciphertexts."""
    arrays = aggregate_body(plan).decode(body)
    contributors = int(arrays.pop(_COUNT.name)[0])
    _check_contributors(contributors, plan)
    half.check_sum(arrays)
    return EncryptedSum(arrays, contributors)


def check_sums(sums: NDArray[np.int64], contributors: int, plan: Plan) -> None:
    """Refuses decrypted sums (windows, k1) that so many contributors cannot add up to."""
    _check_contributors(contributors, plan)
    if int(sums.max()) > contributors * plan.fixed_point.top:
        raise AggregateError(
            "a slot holds more than its contributors could add up to",
            "a client sent a mask that is no permutation, or the count is wrong: do not apply it",
        )


def average_update(
    sums: NDArray[np.int64], contributors: int, plan: Plan, clip: float
) -> NDArray[np.float64]:
    """The mean of the contributors' updates, d parameters long (Algorithm 1, lines 17 and 18). All
    clients count alike."""
    mean = plan.fixed_point.decode_mean(plan.geometry.unpad(sums), contributors)
    return denormalise(mean, clip)


def _check_contributors(contributors: int, plan: Plan) -> None:
    if not 1 <= contributors <= plan.layout.clients:
        raise AggregateError(
            f"{contributors} contributors in a run planned for 1 to {plan.layout.clients}",
            "the aggregator's count is wrong: do not apply it",
        )
