"""What clients submit in a round: one kind of message for each phase that asks for one.

Every kind is stored, acknowledged, checked and repeated in the same way; a kind says what its body
is and how it is checked. An update is the first kind there is.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from fedperm.blobs.store import BlobRef
from fedperm.ids import ClientName, RoundNumber
from fedperm.registry import Registry
from fedperm.run_document import RunDocument
from fedperm.uploads.form import Accepted, UpdateTerms, examine, glance
from fedperm.wire.body import Body
from fedperm.wire.statements import UPDATE_KIND

__all__ = ["SUBMISSIONS", "UPDATE", "RoundContext", "SubmissionKind"]


@dataclass(frozen=True)
class RoundContext:
    """What a submission is held against: the round's terms, whose it is, and the aggregate if it is
    written already. Worker processes get it."""

    terms: UpdateTerms
    round: RoundNumber
    client: ClientName
    aggregate: BlobRef | None


class SubmissionKind(Protocol):
    @property
    def name(self) -> str:
        """In manifests, tables and events."""
        ...

    @property
    def path(self) -> str:
        """Its part of a path: rounds/{round}/{path}/{client}."""
        ...

    def body(self, document: RunDocument) -> Body:
        """The one layout that a submission has in this run."""
        ...

    def glance(self, octets: memoryview, terms: UpdateTerms) -> None:
        """What can be seen before it is acknowledged, in no time. A MessageError says what its
        sender did wrong."""
        ...

    def examine(self, octets: memoryview, context: RoundContext) -> Accepted:
        """What becomes of it. A MessageError says what its sender did wrong. Runs in a worker."""
        ...


class UpdateSubmission:
    """What the run's upload form makes of it (`fedperm.uploads`)."""

    name: ClassVar[str] = UPDATE_KIND
    path: ClassVar[str] = "updates"

    def body(self, document: RunDocument) -> Body:
        return document.update_body

    def glance(self, octets: memoryview, terms: UpdateTerms) -> None:
        glance(octets, terms)

    def examine(self, octets: memoryview, context: RoundContext) -> Accepted:
        return examine(octets, context.terms)


UPDATE = UpdateSubmission()
SUBMISSIONS: Registry[SubmissionKind] = Registry(
    "kind of submission",
    {UPDATE.name: UPDATE},
    reserved={
        "vote": "votes on what is opened are planned",
        "opening": "partial decryptions are planned",
    },
)
