"""From decrypted plaintexts to the averaged update (Algorithm 1, lines 17 and 18).

Nothing decrypted goes into an error: an error travels, and the aggregator may provoke it.
"""

from collections.abc import Sequence

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import AggregateError
from fedperm.normalisation import denormalise
from fedperm.planner import Plan


def unpack_sum(
    plaintexts: Sequence[Sequence[mpz]], contributors: int, plan: Plan
) -> NDArray[np.int64]:
    """The integer sums (windows, k1) in the slots, each checked against what is possible."""
    check_aggregate_shape(plaintexts, contributors, plan)
    packing = plan.packing
    sums = np.stack(
        [
            np.concatenate([packing.split(plaintext, g) for g, plaintext in enumerate(row)])
            for row in plaintexts
        ]
    )
    if int(sums.max()) > contributors * plan.fixed_point.top:
        raise AggregateError(
            "a slot holds more than its contributors could add up to",
            "a client sent a mask that is no permutation, or the count is wrong: do not apply it",
        )
    return sums


def average_update(
    sums: NDArray[np.int64], contributors: int, plan: Plan, clip: float
) -> NDArray[np.float64]:
    """The mean of the contributors' updates, d parameters long. All clients count alike."""
    mean = plan.fixed_point.decode_mean(plan.geometry.unpad(sums), contributors)
    return denormalise(mean, clip)


def check_aggregate_shape(numbers: Sequence[Sequence[mpz]], contributors: int, plan: Plan) -> None:
    """An aggregate has one number per window and group, and a possible count of contributors."""
    if [len(row) for row in numbers] != [plan.packing.groups] * plan.geometry.windows:
        raise AggregateError(
            f"the aggregate does not hold {plan.geometry.windows} windows "
            f"of {plan.packing.groups} ciphertexts",
            "it belongs to other parameters, or it is not an average: do not apply it",
        )
    check_contributors(contributors, plan)


def check_contributors(contributors: int, plan: Plan) -> None:
    if not 1 <= contributors <= plan.packing.clients:
        raise AggregateError(
            f"{contributors} contributors in a run planned for 1 to {plan.packing.clients}",
            "the aggregator's count is wrong: do not apply it",
        )
