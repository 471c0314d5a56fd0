"""FedPerm's aggregation as attackers meet it: bounded by the aggregator, checked by the clients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import average_update
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters


class RefusedAverageError(Exception):
    """The clients do not apply it, and stop."""


@dataclass(frozen=True, eq=False)
class Upload:
    """Coded integers. `factor` is what the masks hold where a 1 belongs.

    An attacker also puts 1 - factor where a value of 1/2 stands, so that 1/2 stays 1/2 and only
    what differs from it is multiplied. The aggregator sees neither.
    """

    values: NDArray[Any]
    factor: int = 1


def step(document: RunDocument, uploads: Sequence[Upload]) -> Parameters:
    """How far the model moves; with honest uploads it is the simulation's own step."""
    sums: NDArray[np.int64] = np.sum([_contribution(document, one) for one in uploads], axis=0)
    _check(document, sums, len(uploads))
    return average_update(sums, len(uploads), document.plan, document.noise.clip)


def middle(document: RunDocument) -> int:
    """The integer nearest to 1/2."""
    return (document.plan.fixed_point.top + 1) // 2


def _contribution(document: RunDocument, upload: Upload) -> NDArray[np.int64]:
    bound, fixed_point = document.bound, document.plan.fixed_point
    bounded = upload.values if bound is None else bound.apply(upload.values, fixed_point).values
    values = bounded.astype(np.int64)
    centre = middle(document)
    return centre + upload.factor * (values - centre)


def _check(document: RunDocument, sums: NDArray[np.int64], contributors: int) -> None:
    """What a client checks before it applies an average (`fedperm_client.aggregate_checks`). A
    sum that leaves its slot spills into the next: with thousands of slots some are too full."""
    fixed_point, bound = document.plan.fixed_point, document.bound
    if int(sums.min()) < 0 or int(sums.max()) > contributors * fixed_point.top:
        raise RefusedAverageError("a slot holds more than its contributors could add up to")
    if bound is None:
        return
    mean = fixed_point.decode_mean(sums, contributors)
    if float(np.linalg.norm(mean - bound.form.origin)) > bound.limit:
        raise RefusedAverageError("the average is longer than the norm bound admits")
