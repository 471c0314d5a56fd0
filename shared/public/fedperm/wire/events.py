"""What happens in a run, as the aggregator tells it: every kind of event with its own details.

A kind is known by the class of its details. What an event of a later version tells is kept as it
is (`OtherDetails`), so that a reader that does not know it can pass it by.
"""

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import ConfigDict, SerializeAsAny, ValidationInfo, field_validator

from fedperm.ids import ClientName, EpochNumber, RoundNumber
from fedperm.wire.aggregator import ClientReport, SubmissionState
from fedperm.wire.message import ClientField, Lax, Many, Message, Sha256, Word
from fedperm.wire.statements import UPDATE_KIND


class EventKind(StrEnum):
    """Everything that an Event may tell; docs/protocol.md says what the details mean."""

    RUN_CREATED = "run-created"
    RUN_COMPLETED = "run-completed"
    RUN_FAILED = "run-failed"
    RUN_STOPPED = "run-stopped"
    RUN_RESUMED = "run-resumed"
    INITIAL_MODEL = "initial-model"
    KEY_EPOCH = "key-epoch"
    KEY_COMPROMISED = "key-compromised"
    PARTICIPANT_JOINED = "participant-joined"
    PARTICIPANT_EXCLUDED = "participant-excluded"
    ROUND_OPENED = "round-opened"
    ROUND_EXTENDED = "round-extended"
    ROUND_SEALED = "round-sealed"
    ROUND_PUBLISHED = "round-published"
    ROUND_ABORTED = "round-aborted"
    ROUND_CLOSED = "round-closed"
    PHASE_BEGUN = "phase-begun"
    SUBMISSION_STORED = "submission-stored"
    SUBMISSION_CHECKED = "submission-checked"
    FOLD_PROGRESS = "fold-progress"
    JOB_FAILED = "job-failed"
    CLIENT_REPORT = "client-report"


class Details(Message):
    """What an event tells beside its time, its round and its client. Never a secret, never a
    ciphertext."""

    event: ClassVar[EventKind]


class RunCreated(Details):
    event: ClassVar[EventKind] = EventKind.RUN_CREATED

    document: Sha256


class RunCompleted(Details):
    event: ClassVar[EventKind] = EventKind.RUN_COMPLETED


class RunFailed(Details):
    event: ClassVar[EventKind] = EventKind.RUN_FAILED

    reason: str


class RunStopped(Details):
    event: ClassVar[EventKind] = EventKind.RUN_STOPPED


class RunResumed(Details):
    event: ClassVar[EventKind] = EventKind.RUN_RESUMED


class InitialModelStored(Details):
    event: ClassVar[EventKind] = EventKind.INITIAL_MODEL


class KeyEpochAdded(Details):
    event: ClassVar[EventKind] = EventKind.KEY_EPOCH

    epoch: EpochNumber


class KeyCompromised(Details):
    event: ClassVar[EventKind] = EventKind.KEY_COMPROMISED

    hint: str


class ParticipantJoined(Details):
    event: ClassVar[EventKind] = EventKind.PARTICIPANT_JOINED


class ParticipantExcluded(Details):
    event: ClassVar[EventKind] = EventKind.PARTICIPANT_EXCLUDED


class RoundOpened(Details):
    event: ClassVar[EventKind] = EventKind.ROUND_OPENED

    epoch: EpochNumber
    selected: Many[ClientField]
    deadline_at: float


class RoundExtended(Details):
    event: ClassVar[EventKind] = EventKind.ROUND_EXTENDED

    deadline_at: float
    extensions: int


class RoundSealed(Details):
    """`seconds` since it opened."""

    event: ClassVar[EventKind] = EventKind.ROUND_SEALED

    members: Many[ClientField]
    seconds: float


class RoundPublished(Details):
    """`seconds` since it was sealed."""

    event: ClassVar[EventKind] = EventKind.ROUND_PUBLISHED

    contributors: int
    sha256: Sha256
    size: int
    seconds: float


class PhaseBegun(Details):
    """A later phase of the round asks clients for something."""

    event: ClassVar[EventKind] = EventKind.PHASE_BEGUN

    phase: Word
    collects: Word
    asked: Many[ClientField]
    deadline_at: float


class RoundClosed(Details):
    """The last phase of a round that was published before is over."""

    event: ClassVar[EventKind] = EventKind.ROUND_CLOSED


class RoundAborted(Details):
    """`dropped` valid updates went with it."""

    event: ClassVar[EventKind] = EventKind.ROUND_ABORTED

    reason: str
    dropped: int


class SubmissionStored(Details):
    event: ClassVar[EventKind] = EventKind.SUBMISSION_STORED

    kind: Word = UPDATE_KIND
    size: int


class SubmissionChecked(Details):
    event: ClassVar[EventKind] = EventKind.SUBMISSION_CHECKED

    kind: Word = UPDATE_KIND
    state: Lax[SubmissionState]
    reason: str
    norm_before: float | None
    norm_after: float | None
    bounded: bool | None


class FoldAdvanced(Details):
    """So many jobs of a phase of the fold are done."""

    event: ClassVar[EventKind] = EventKind.FOLD_PROGRESS

    phase: str
    done: int
    total: int


class JobFailed(Details):
    event: ClassVar[EventKind] = EventKind.JOB_FAILED

    kind: str
    attempt: int
    reason: str


class ClientReported(Details, ClientReport):
    event: ClassVar[EventKind] = EventKind.CLIENT_REPORT


class OtherDetails(Details):
    """Of a kind that this version does not know."""

    model_config = ConfigDict(extra="allow")


DETAILS: dict[str, type[Details]] = {
    details.event: details for details in Details.__subclasses__() if details is not OtherDetails
}


def details_of(event: str, told: dict[str, Any]) -> Details:
    return DETAILS.get(event, OtherDetails).model_validate(told)


class Event(Message):
    """One thing that happened, in order; `id` is what a reader has seen."""

    id: int
    at: float
    event: str
    round: RoundNumber
    client: ClientName
    details: SerializeAsAny[Details]

    @field_validator("details", mode="before")
    @classmethod
    def _of_its_kind(cls, details: Any, info: ValidationInfo) -> Any:
        if isinstance(details, Details):
            return details
        return details_of(info.data.get("event", ""), details)
