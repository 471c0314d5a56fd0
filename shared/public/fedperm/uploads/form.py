"""What an upload form is: its tensors, how it is checked, and what becomes of it.

The client prepares an upload, the aggregator checks each one as it arrives and, when the round is
sealed, makes the sum of all that it accepted. A form uses a scheme through `fedperm.schemes` alone.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Protocol

from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum
from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef, damaged
from fedperm.norm_bound import NormBound
from fedperm.planner import Plan
from fedperm.schemes.scheme import Arrays, Encoder, OnProgress, PublicHalf, Work
from fedperm.wire.body import Body, Tensor
from fedperm.workers import Workers


@dataclass(frozen=True)
class UpdateTerms:
    """What a run's document and one key epoch say about updates. Worker processes get it."""

    form: "UploadForm"
    plan: Plan
    bound: NormBound | None
    half: PublicHalf

    @cached_property
    def body(self) -> Body:
        return Body(self.form.tensors(self.plan))


@dataclass(frozen=True)
class Check:
    """Something that an upload must satisfy, and why: `reason` says what an upload that does not
    could do. `look` raises a MessageError that holds no number of the upload. What is quick is
    looked at before the upload is acknowledged as well: whoever is refused then has not lost the
    round."""

    name: str
    reason: str
    look: Callable[[Arrays, UpdateTerms], None]
    is_quick: bool = False


@dataclass(frozen=True)
class Norms:
    """Of an upload's values before and after norm bounding, in normalised units."""

    before: float
    after: float

    @property
    def bounded(self) -> bool:
        return self.after != self.before


@dataclass(frozen=True)
class Accepted:
    """What is known of an upload that passed its checks; the upload itself is kept until its round
    is closed. `norms` is None in a run without a bound."""

    norms: Norms | None


@dataclass(frozen=True)
class SummedUp:
    """The encrypted sum as it is published, and what folding and re-randomising took."""

    total: EncryptedSum
    folding: Work
    rerandomising: Work


class PhaseProgress(Protocol):
    """Tells how far a phase of summing up is."""

    def __call__(self, phase: str) -> OnProgress: ...


class UploadForm(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def checks(self) -> tuple[Check, ...]:
        """In order, the cheap ones first; all of them run in a worker process. Header, shapes and
        length are checked before."""
        ...

    def tensors(self, plan: Plan) -> tuple[Tensor, ...]:
        """They fix the length of an upload to the octet."""
        ...

    def prepare(
        self, coded: NDArray[Any], plan: Plan, encoder: Encoder, randomness: Random
    ) -> Arrays:
        """The upload of windows that are noised and coded already. What undoes the shuffle exists
        while this runs and is kept nowhere."""
        ...

    def accept(self, arrays: Arrays, terms: UpdateTerms) -> Accepted:
        """What becomes of an upload that has passed all checks."""
        ...

    def sum_up(
        self,
        members: Sequence[BlobRef],
        terms: UpdateTerms,
        workers: Workers,
        randomness: Random,
        progress: PhaseProgress,
    ) -> SummedUp:
        """The aggregate of a sealed round, of all uploads that were accepted for it."""
        ...


def examine(octets: memoryview, terms: UpdateTerms) -> Accepted:
    """All checks in order, then acceptance. A MessageError says what the sender did wrong."""
    arrays = terms.body.decode(octets)
    for check in terms.form.checks:
        check.look(arrays, terms)
    return terms.form.accept(arrays, terms)


def glance(octets: memoryview, terms: UpdateTerms) -> None:
    """Header, length and the quick checks. A MessageError says what the sender did wrong."""
    arrays = terms.body.decode(octets)
    for check in terms.form.checks:
        if check.is_quick:
            check.look(arrays, terms)


def read_accepted(upload: BlobRef, body: Body) -> dict[str, NDArray[Any]]:
    """Views into an upload; one that has changed since it was acknowledged is refused."""
    octets = open_blob(upload).view()
    if hashlib.sha256(octets).hexdigest() != upload.sha256:
        raise damaged()
    return body.decode(octets)
