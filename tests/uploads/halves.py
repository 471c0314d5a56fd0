"""An upload form of a page, for tests alone: shuffled values in two tensors, their low byte and the
rest, beside masks under names of its own.

It shows the aggregator exactly what the form `masks` does, so the privacy accounting holds for it.
Its sum is made in another way: uploads are folded one by one and combined.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum
from fedperm.blobs.store import BlobRef
from fedperm.errors import ValueRangeError
from fedperm.permutation import draw_patterns, shuffle
from fedperm.planner import Plan
from fedperm.schemes.scheme import Arrays, Encoder, MaskedValues, StoredUpload, Work
from fedperm.uploads.form import (
    Accepted,
    Check,
    Norms,
    PhaseProgress,
    SummedUp,
    UpdateTerms,
    read_accepted,
)
from fedperm.uploads.registry import UPLOAD_FORMS
from fedperm.wire.body import Tensor
from fedperm.workers import Workers

LOW, HIGH, HIDDEN = "low", "high", "hidden."


def _joined(arrays: Arrays) -> NDArray[Any]:
    return arrays[LOW].astype("<u4") + (arrays[HIGH].astype("<u4") << 8)


def _check_values(arrays: Arrays, terms: UpdateTerms) -> None:
    if int(_joined(arrays).max()) > terms.plan.fixed_point.top:
        raise ValueRangeError("a value is too large", "code values with the run's bits")


def _check_masks(arrays: Arrays, terms: UpdateTerms) -> None:
    names = [tensor.name for tensor in terms.plan.layout.masks]
    terms.half.check_masks({name: arrays[HIDDEN + name] for name in names})


class Halves:
    name: ClassVar[str] = "halves"
    checks: ClassVar[tuple[Check, ...]] = (
        Check("halves", "a value of more bits would spoil its neighbour's sum", _check_values),
        Check("hidden", "what the scheme cannot add up breaks every sum", _check_masks),
    )

    def tensors(self, plan: Plan) -> tuple[Tensor, ...]:
        shape = (plan.geometry.windows, plan.geometry.k1)
        hidden = [replace(tensor, name=HIDDEN + tensor.name) for tensor in plan.layout.masks]
        return Tensor(LOW, np.dtype("u1"), shape), Tensor(HIGH, np.dtype("<u2"), shape), *hidden

    def prepare(
        self, coded: NDArray[Any], plan: Plan, encoder: Encoder, randomness: Random
    ) -> Arrays:
        patterns = draw_patterns(plan.geometry, randomness)
        values = shuffle(coded, patterns, plan.geometry).astype("<u4")
        hidden = {HIDDEN + name: array for name, array in encoder.encode(patterns).items()}
        return {LOW: (values & 255).astype("u1"), HIGH: (values >> 8).astype("<u2"), **hidden}

    def accept(self, arrays: Arrays, terms: UpdateTerms) -> Accepted:
        if terms.bound is None:
            return Accepted(None)
        bounded = terms.bound.apply(_joined(arrays), terms.plan.fixed_point)
        return Accepted(Norms(bounded.norm_before, bounded.norm_after))

    def sum_up(
        self,
        members: Sequence[BlobRef],
        terms: UpdateTerms,
        workers: Workers,
        randomness: Random,
        progress: PhaseProgress,
    ) -> SummedUp:
        parts, folding = [], Work()
        for member in members:
            part, work = terms.half.fold([self._masked(member, terms)], workers)
            parts.append(part)
            folding += work
            progress("fold")(len(parts), len(members))
        fresh, blinding = terms.half.rerandomise(
            terms.half.combine(parts), randomness, workers, progress("rerandomise")
        )
        return SummedUp(EncryptedSum(fresh, len(members)), folding, blinding)

    def _masked(self, member: BlobRef, terms: UpdateTerms) -> MaskedValues:
        fixed_point = terms.plan.fixed_point
        values = _joined(read_accepted(member, terms.body)).astype(fixed_point.dtype)
        if terms.bound is not None:
            values = terms.bound.apply(values, fixed_point).values
        names = [tensor.name for tensor in terms.plan.layout.masks]
        offsets = {name: terms.body.offset_of(HIDDEN + name) for name in names}
        return MaskedValues(StoredUpload(member, offsets), values)


@contextmanager
def halves_form() -> Iterator[None]:
    """Registered while the block lasts."""
    with UPLOAD_FORMS.registered(Halves.name, Halves()):
        yield
