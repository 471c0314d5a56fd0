"""JSON messages of the aggregator's interface; docs/protocol.md says when they travel."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints, model_validator

from fedperm.ids import NO_EPOCH, NO_ROUND, EpochNumber, RoundNumber
from fedperm.protocol import FIRST_PROTOCOL
from fedperm.wire.message import (
    ClientField,
    EpochField,
    Lax,
    Many,
    Message,
    RoundField,
    RunField,
    Sha256,
    Word,
)
from fedperm.wire.statements import UPDATE_KIND

MANIFEST = "Fedperm-Manifest"
"""The header that carries an upload's signed Manifest."""

LONG_LIST = 1 << 28
"""Octets of what operators read and no client does: it grows with rounds and clients."""

MOST_ROUNDS = 1_000_000
"""As many as a run's document may have."""

Seconds = Annotated[float, Field(ge=0)]
ReportedSeconds = Annotated[float, Field(ge=0, le=1e9)]
Octets = Annotated[int, Field(ge=0, lt=1 << 53)]
Share = Annotated[float, Field(ge=0, le=1)]
Epsilon = Annotated[float, Field(ge=0)]
"""What clients say of themselves is bounded: whoever adds it up must not overflow."""


class RunState(StrEnum):
    """WAITING: for the initial model, a key epoch or clients."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        return self in {RunState.COMPLETED, RunState.FAILED}


class RoundState(StrEnum):
    """OPEN takes updates; SEALED has its members and is being folded."""

    OPEN = "open"
    SEALED = "sealed"
    PUBLISHED = "published"
    ABORTED = "aborted"

    @property
    def is_settled(self) -> bool:
        return self in {RoundState.PUBLISHED, RoundState.ABORTED}


class SubmissionState(StrEnum):
    """STORED: acknowledged and durable; VALID or REJECTED once checked; then INCLUDED in the sum.
    DROPPED: with its aborted round, or, with a reason, since the aggregator could not check it."""

    STORED = "stored"
    VALID = "valid"
    REJECTED = "rejected"
    INCLUDED = "included"
    DROPPED = "dropped"


class Phase(StrEnum):
    """What a client says it is doing."""

    IDLE = "idle"
    TRAINING = "training"
    ENCRYPTING = "encrypting"
    UPLOADING = "uploading"
    DECRYPTING = "decrypting"


class TaskKind(StrEnum):
    """What a client is to do next. Further phases of a round have words of their own."""

    TRAIN = "train"
    SETTLE = "settle"
    WAIT = "wait"
    FINISH = "finish"


class RunStatus(Message):
    """`round` is the newest round, 0 before the first; `reason` says why a run waits or ended."""

    run: RunField
    document: Sha256
    state: Lax[RunState]
    reason: str
    round: RoundNumber
    rounds: int
    epoch: EpochNumber
    participants: int
    created_at: float


class RunList(Message):
    most_octets: ClassVar[int] = LONG_LIST

    runs: Many[RunStatus]


class KeyEpoch(Message):
    """A signed EpochRecord beside the run."""

    record: str


class KeyEpochs(Message):
    epochs: Many[KeyEpoch]


class Participation(Message):
    """A client joins the run whose document it has read, and says what it speaks."""

    document: Sha256
    protocol: Annotated[str, Field(max_length=40)] = FIRST_PROTOCOL


class Heartbeat(Message):
    phase: Lax[Phase]
    round: RoundNumber = Field(ge=0, le=MOST_ROUNDS)


class ParticipantStatus(Message):
    client: ClientField
    joined_at: float
    last_seen_at: float
    online: bool
    phase: Lax[Phase]
    round: RoundNumber
    excluded: bool


class ParticipantList(Message):
    most_octets: ClassVar[int] = LONG_LIST

    participants: Many[ParticipantStatus]


class Task(Message):
    """TRAIN: prepare and upload an update for `round` under `epoch`. SETTLE: `round` was
    published or aborted; read its outcome. FINISH: the run is over."""

    kind: Word
    round: RoundNumber = NO_ROUND
    epoch: EpochNumber = NO_EPOCH
    deadline_at: float | None = None
    run_state: Lax[RunState]


class SubmissionReceipt(Message):
    """The update is on disk and will be counted if it is valid."""

    sha256: Sha256
    state: Lax[SubmissionState]
    received_at: float


class AggregateReference(Message):
    sha256: Sha256
    size: int
    contributors: int


class RoundOutcome(Message):
    """What a participant may know of a round: the result, who is in it, and why it failed."""

    round: RoundField
    state: Lax[RoundState]
    epoch: EpochField
    selected: Many[ClientField]
    included: Many[ClientField]
    aggregate: AggregateReference | None
    reason: str


class SubmissionReport(Message):
    """What the aggregator saw of a client's submission. Norms are of an update's normalised
    vector."""

    kind: Word
    client: ClientField
    state: Lax[SubmissionState]
    reason: str
    size: int
    received_at: float
    norm_before: float | None
    norm_after: float | None
    bounded: bool | None


class SignedCheckpoint(Message):
    """`statement` is a signed CheckpointStatement, `certificate` the signed ClientCertificate of
    whoever signed it."""

    statement: str
    certificate: str


class CheckpointReceipt(Message):
    """`wanted`: more than half of the round's contributors have signed this checkpoint, and nobody
    has sent its octets."""

    wanted: bool


class CheckpointOffer(Message):
    """The newest sealed checkpoint, and who vouches for it; `round` to `size` are as in each of the
    statements."""

    round: RoundField
    epoch: EpochField
    lineage: Sha256
    sha256: Sha256
    size: int
    signed: Many[SignedCheckpoint]


class ClientSeconds(Message):
    """A client's time by phase."""

    train: ReportedSeconds
    randomize: ReportedSeconds
    encrypt: ReportedSeconds
    upload: ReportedSeconds
    decrypt: ReportedSeconds


def in_tenths(seconds: ClientSeconds) -> ClientSeconds:
    """All that an operator needs in the open. Finer ones would tell the aggregator how long exactly
    a client computed on what the aggregator had chosen."""
    return ClientSeconds(**{part: round(value, 1) for part, value in seconds})


class TestMetrics(Message):
    """On the task's public test data."""

    __test__ = False  # not a class of tests

    accuracy: Share | None
    loss: float


class LedgerReport(Message):
    """A client's own account after a round. `epsilon` of its budget is spent, in the paper's unit
    and over everything that the ledger counts, other runs too; `whole_update` is what the
    `charges` of this run cost a whole update."""

    epsilon: Epsilon
    budget: Epsilon
    delta: Share
    accountant: Annotated[str, Field(max_length=100)]
    charges: Annotated[int, Field(ge=0, le=MOST_ROUNDS)]
    whole_update: Epsilon


class Measured(Message):
    """What a client computes from the decrypted model. `train_loss` is an unnoised release: only if
    the run's document asks for it and the client's own settings allow it. `seconds` are to the
    millisecond."""

    test: TestMetrics | None
    train_loss: float | None = None
    seconds: ClientSeconds | None = None


MEASURED_OCTETS = 512
"""Of a Measured before it is sealed: the longest numbers take some 350."""
SEALED_CHARACTERS = 747
"""48 octets more, in base64url."""
SealedText = Annotated[str, StringConstraints(pattern=rf"^[A-Za-z0-9_-]{{{SEALED_CHARACTERS}}}$")]


class ClientReport(Message):
    """Sent after a round was settled. What a client measures on the decrypted model is `sealed` to
    the run's operator (fedperm_secret.sealed_reports): the aggregator may have chosen that model.
    Only if the client's owner wants it so does it travel as `measured`, in the clear; a report has
    both only where the operator has opened it. Without a budget there is no `ledger`."""

    seconds: ClientSeconds
    bytes_up: Octets
    bytes_down: Octets
    ledger: LedgerReport | None = None
    sealed: SealedText | None = None
    measured: Measured | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_an_older_version(cls, members: Any) -> Any:
        """Reports were kept as they came, in the clear."""
        if not isinstance(members, dict) or "test" not in members:
            return members
        kept = dict(members)
        measured = {"test": kept.pop("test"), "train_loss": kept.pop("train_loss", None)}
        return {**kept, "measured": measured}

    @property
    def in_clear(self) -> bool:
        """So that the aggregator could read it."""
        return self.measured is not None and self.sealed is None

    @property
    def test(self) -> TestMetrics | None:
        """If it can be read."""
        return None if self.measured is None else self.measured.test


class NamedReport(Message):
    client: ClientField
    report: ClientReport


class AggregatorSeconds(Message):
    """The aggregator's time by phase: `open` is from opening to sealing, `fold` from sealing to
    publishing; the others are CPU seconds of all workers together."""

    open: Seconds
    fold: Seconds
    validation_cpu: Seconds
    folding_cpu: Seconds
    rerandomising_cpu: Seconds


class RoundReport(Message):
    """All that the operator may know of a round. `phase` is empty once it is closed; it `collects`
    one kind of submission from the clients that it has asked, or, if empty, none."""

    most_octets: ClassVar[int] = LONG_LIST

    outcome: RoundOutcome
    phase: str
    collects: str
    asked: Many[ClientField]
    opened_at: float
    deadline_at: float
    extensions: int
    sealed_at: float | None
    settled_at: float | None
    submissions: Many[SubmissionReport]
    reports: Many[NamedReport]
    seconds: AggregatorSeconds

    @property
    def updates(self) -> tuple[SubmissionReport, ...]:
        return tuple(one for one in self.submissions if one.kind == UPDATE_KIND)


class RoundList(Message):
    most_octets: ClassVar[int] = LONG_LIST

    rounds: Many[RoundReport]
