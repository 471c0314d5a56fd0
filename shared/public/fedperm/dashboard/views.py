"""What the page shows, as JSON. Not part of the protocol: page and server are one release."""

from enum import StrEnum

from fedperm.ids import ClientName, EpochNumber, RoundNumber, RunName
from fedperm.phase_seconds import PhaseSeconds
from fedperm.wire.aggregator import Phase, RoundState, RunStatus
from fedperm.wire.message import Lax, Many, Message


class Standing(StrEnum):
    """Where a client is in the newest round."""

    NOT_ASKED = "not asked"
    AWAITED = "awaited"
    LATE = "late"
    UPLOADED = "uploaded"
    CHECKED = "checked"
    REJECTED = "rejected"
    INCLUDED = "included"
    DROPPED = "dropped"
    MISSED = "missed"
    EXCLUDED = "excluded"


class Client(Message):
    """`doing` is by its last heartbeat; `reason` why it was rejected."""

    client: ClientName
    online: bool
    doing: Lax[Phase]
    standing: Lax[Standing]
    reason: str


class Progress(Message):
    """What the run is at, in words, and how far: `done` of `total`, if there is something to
    count."""

    name: str
    words: str
    done: int
    total: int


class Key(Message):
    scheme: str
    name: str
    bits: int
    epoch: EpochNumber
    fingerprint: str
    signing_key: str


class RecordLevel(Message):
    """Epsilon for one record of a client that takes part in every round; None where nothing is
    promised, and `words` say why."""

    so_far: float | None
    at_end: float | None
    words: str


class Privacy(Message):
    """What follows from the run's document alone. `unit_parameters` are those that the paper's
    epsilon protects; `pure_per_round` is a whole update's epsilon, without any delta."""

    delta: float
    laplace_scale: float
    unit_parameters: int
    pure_per_round: float
    record: RecordLevel


class Now(Message):
    """The run at this moment. `privacy` is None for a run without noise."""

    status: RunStatus
    progress: Progress
    deadline_at: float | None
    clients: Many[Client]
    key: Key | None
    privacy: Privacy | None


class Facts(Message):
    """What never changes: the run's document in a few numbers. Octets are exact. There is a warning
    where a sum may be of few clients."""

    run: RunName
    document: str
    task: str
    parameters: int
    k1: int
    k2: int
    windows: int
    value_bits: int
    clip: float
    norm_limit: float | None
    norm_form: str
    rounds: int
    clients_per_round: int
    min_contributors: int
    contributors_warning: str | None
    deadline_seconds: float
    key_bits: int
    mask_ciphertexts: int
    aggregate_ciphertexts: int
    insecure_for_tests: bool


class Ledgers(Message):
    """Of the client that has spent the largest part of its budget, and how many have reported."""

    clients: int
    client: ClientName
    epsilon: float
    budget: float
    delta: float
    accountant: str
    charges: int
    whole_update: float


class Trouble(Message):
    """A client that was asked, and is not in the sum."""

    client: ClientName
    standing: Lax[Standing]
    reason: str


class Round(Message):
    """One round in a few numbers. Of `received` updates so many were `measured`. Accuracy and loss
    are the middle ones of what clients report: one that lies moves no chart. Of the `reports` so
    many said `in_clear` what they measured, are `sealed` to the run's operator and cannot be read
    here, or are `broken`: sealed, and do not open with the operator's key."""

    number: RoundNumber
    state: Lax[RoundState]
    reason: str
    epoch: EpochNumber
    selected: int
    received: int
    measured: int
    included: int
    rejected: int
    bounded: int
    reports: int
    in_clear: int
    sealed: int
    broken: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    loss: float | None
    seconds: PhaseSeconds
    total_seconds: float | None
    bytes_up: int
    bytes_down: int
    ledgers: Ledgers | None
    troubles: Many[Trouble]


class RoundsNews(Message):
    rounds: Many[Round]


class SessionView(Message):
    form_token: str
    ends_at: float
