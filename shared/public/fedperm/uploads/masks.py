"""The paper's form: shuffled values in the clear, and encrypted masks that undo the shuffle.

What cannot be seen (whether a mask is a permutation) is not checked here; what can be seen is
checked in full.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum
from fedperm.blobs.store import BlobRef
from fedperm.errors import ValueRangeError
from fedperm.permutation import draw_patterns, shuffle
from fedperm.planner import Plan
from fedperm.schemes.scheme import Arrays, Encoder, MaskedValues, StoredUpload
from fedperm.uploads.form import (
    Accepted,
    Check,
    Norms,
    PhaseProgress,
    SummedUp,
    UpdateTerms,
    read_accepted,
)
from fedperm.wire.body import Tensor
from fedperm.workers import Workers

VALUES = "values"


def _check_values(arrays: Arrays, terms: UpdateTerms) -> None:
    fixed_point = terms.plan.fixed_point
    if int(arrays[VALUES].max()) > fixed_point.top:
        raise ValueRangeError(
            f"a value exceeds {fixed_point.top}", f"code values with {fixed_point.value_bits} bits"
        )


def _check_masks(arrays: Arrays, terms: UpdateTerms) -> None:
    terms.half.check_masks(arrays)


class Masks:
    name: ClassVar[str] = "masks"
    checks: ClassVar[tuple[Check, ...]] = (
        Check(
            "values",
            "a value of more bits would carry into the next slot",
            _check_values,
            is_quick=True,
        ),
        Check(
            "ciphertexts",
            "a number that is no ciphertext breaks every sum it is in, or tells the secret key",
            _check_masks,
        ),
    )

    def tensors(self, plan: Plan) -> tuple[Tensor, ...]:
        shape = (plan.geometry.windows, plan.geometry.k1)
        return (Tensor(VALUES, plan.fixed_point.dtype, shape), *plan.layout.masks)

    def prepare(
        self, coded: NDArray[Any], plan: Plan, encoder: Encoder, randomness: Random
    ) -> Arrays:
        patterns = draw_patterns(plan.geometry, randomness)
        values = shuffle(coded, patterns, plan.geometry)
        return {VALUES: values, **encoder.encode(patterns)}

    def accept(self, arrays: Arrays, terms: UpdateTerms) -> Accepted:
        """The upload stays until the seal: folding all of them together is cheaper (ADR 9)."""
        if terms.bound is None:
            return Accepted(None)
        bounded = terms.bound.apply(arrays[VALUES], terms.plan.fixed_point)
        return Accepted(Norms(bounded.norm_before, bounded.norm_after))

    def sum_up(
        self,
        members: Sequence[BlobRef],
        terms: UpdateTerms,
        workers: Workers,
        randomness: Random,
        progress: PhaseProgress,
    ) -> SummedUp:
        masked = [self._masked(member, terms) for member in members]
        total, folding = terms.half.fold(masked, workers, progress("fold"))
        fresh, blinding = terms.half.rerandomise(
            total, randomness, workers, progress("rerandomise")
        )
        return SummedUp(EncryptedSum(fresh, len(members)), folding, blinding)

    def _masked(self, member: BlobRef, terms: UpdateTerms) -> MaskedValues:
        """Its values bounded once more, which gives the same; its masks where they lie."""
        values = read_accepted(member, terms.body)[VALUES]
        # copied either way: views into a whole upload would keep all of it alive
        if terms.bound is None:
            values = values.copy()
        else:
            values = terms.bound.apply(values, terms.plan.fixed_point).values
        offsets = {tensor.name: terms.body.offset_of(tensor.name) for tensor in terms.body.tensors}
        return MaskedValues(StoredUpload(member, offsets), values)


MASKS = Masks()
