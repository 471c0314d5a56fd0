"""Records that stores and jobs exchange: frozen, picklable, without behaviour of their own.

Imports neither the web nor the database: worker processes load this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fedperm.ids import NO_EPOCH, NO_ROUND, ClientName, EpochNumber, RoundNumber, RunName
from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm.wire.events import Event


class JobKind(StrEnum):
    CHECK = "check"
    FOLD = "fold"


@dataclass(frozen=True)
class Lease:
    """A job in the hands of one worker; `attempt` counts from 1."""

    job: int
    owner: str
    kind: JobKind
    run: RunName
    round: RoundNumber
    submission: str
    client: ClientName
    attempt: int

    @property
    def place(self) -> "SubmissionPlace":
        """Of the submission that a check is about."""
        return SubmissionPlace(self.submission, self.run, self.round, self.client)


@dataclass(frozen=True)
class SubmissionPlace:
    """One client's place for one kind of submission in a round."""

    kind: str
    run: RunName
    round: RoundNumber
    client: ClientName


@dataclass(frozen=True)
class WrittenBlob:
    sha256: str
    size: int


@dataclass(frozen=True)
class CheckTask:
    """Which submission to check, and under which key. `tensors` are the digests in its manifest;
    one of fedperm/1 has none. `aggregate` is the round's, if it is written."""

    sha256: str
    epoch: EpochNumber
    tensors: Mapping[str, str]
    aggregate: WrittenBlob | None


@dataclass(frozen=True)
class Verdict:
    """What checking a submission found. It is valid, or rejected with the reason, or dropped since
    nobody could check it; `reveals_key` if it holds a factor of the public key."""

    state: SubmissionState = SubmissionState.VALID
    reason: str = ""
    reveals_key: bool = False
    norm_before: float | None = None
    norm_after: float | None = None
    bounded: bool | None = None
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Member:
    """An update that is in the sum."""

    place: SubmissionPlace
    sha256: str


@dataclass(frozen=True)
class SealedRound:
    """What a fold needs to know."""

    epoch: EpochNumber
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Aggregate:
    """A written aggregate, and what it cost."""

    sha256: str
    size: int
    contributors: int
    folding_cpu: float
    rerandomising_cpu: float


@dataclass(frozen=True)
class FoldProgress:
    """How far a round's fold is: so many of all jobs of a phase."""

    run: RunName
    round: RoundNumber
    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class RoundView:
    """The newest round. `phase` is empty once it is closed. Counts are of those who were asked in
    this phase, by the state of what they sent; `members` are the clients in the sum."""

    number: RoundNumber
    state: RoundState
    phase: str
    deadline_at: float
    extensions: int
    asked: int
    stored: int
    valid: int
    rejected: int
    members: tuple[ClientName, ...]
    has_aggregate: bool

    @property
    def all_checked(self) -> bool:
        return self.stored == 0 and self.valid + self.rejected == self.asked


@dataclass(frozen=True)
class RunView:
    """`epoch` is the newest key epoch, 0 without one; `online` are clients that may be asked."""

    state: RunState
    has_model: bool
    epoch: EpochNumber
    online: tuple[ClientName, ...]
    newest: RoundView | None
    aborted_in_a_row: int


@dataclass(frozen=True)
class Wait:
    """Nothing to do; the run's state and why it waits."""

    state: RunState
    reason: str = ""


@dataclass(frozen=True)
class BegunPhase:
    """A phase as it begins. One that `collects` a kind of submission asks clients for it, until
    `deadline_at`; another has a job done."""

    name: str
    state: RoundState
    collects: str = ""
    asked: tuple[ClientName, ...] = ()
    deadline_at: float = 0.0
    job: JobKind | None = None


@dataclass(frozen=True)
class Open:
    number: RoundNumber
    epoch: EpochNumber
    phase: BegunPhase


@dataclass(frozen=True)
class Advance:
    """A phase is over: the next one begins, or, without one, the round is closed."""

    number: RoundNumber
    phase: BegunPhase | None


@dataclass(frozen=True)
class Extend:
    number: RoundNumber
    deadline_at: float


@dataclass(frozen=True)
class Abort:
    number: RoundNumber
    reason: str


@dataclass(frozen=True)
class Complete:
    pass


@dataclass(frozen=True)
class Fail:
    reason: str


Decision = Wait | Open | Advance | Extend | Abort | Complete | Fail


@dataclass(frozen=True)
class Progress:
    """Where a run is, for all of its clients at once: who is asked for something in the newest
    round, and who has sent it. One look at it answers everybody who waits."""

    run_state: RunState
    settled: RoundNumber
    number: RoundNumber = NO_ROUND
    """Of the round in which clients are asked; 0 without one."""
    phase: str = ""
    epoch: EpochNumber = NO_EPOCH
    deadline_at: float = 0.0
    task: str = ""
    """Its word, by the phase."""
    asked: frozenset[ClientName] = frozenset()
    sent: frozenset[ClientName] = frozenset()


@dataclass(frozen=True)
class StoredSubmission:
    sha256: str
    state: SubmissionState
    received_at: float


@dataclass(frozen=True)
class Slot:
    """What is known of a client's place in a round. `state` is None if the round was not opened,
    `collects` the kind of submission that its phase takes, `signing_key` the one that the client
    joined with."""

    state: RoundState | None
    epoch: EpochNumber
    collects: str
    is_closed: bool
    is_asked: bool
    signing_key: str | None
    stored: StoredSubmission | None


@dataclass(frozen=True)
class Claim:
    """What a submission says about itself, and who vouches for it."""

    kind: str
    epoch: EpochNumber
    sha256: str
    signing_key: str


@dataclass(frozen=True)
class NewSubmission:
    place: SubmissionPlace
    sha256: str
    size: int
    manifest: str


@dataclass(frozen=True)
class NewerEpoch:
    """Of the run's key, with its signed record, as a client brings it."""

    epoch: EpochNumber
    record: str


@dataclass(frozen=True)
class SealedCheckpoint:
    """A model that only the run's clients can read, after a round; `epoch` is the one that it is
    sealed under."""

    run: RunName
    round: RoundNumber
    epoch: EpochNumber
    lineage: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Vouching:
    """What a client has signed of a checkpoint, and the certificate of its signing key."""

    client: ClientName
    checkpoint: SealedCheckpoint
    statement: str
    certificate: str


@dataclass(frozen=True)
class Joined:
    """A participant as stored."""

    client: ClientName
    signing_key: str
    joined_at: float
    excluded: bool


@dataclass(frozen=True)
class RoundName:
    run: RunName
    number: RoundNumber


@dataclass(frozen=True)
class Sighting:
    run: RunName
    client: ClientName
    at: float


@dataclass(frozen=True)
class RunEvent:
    """An event and the run it belongs to."""

    run: RunName
    event: Event
