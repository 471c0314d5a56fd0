"""Records that stores and jobs exchange: frozen, picklable, without behaviour of their own.

Imports neither the web nor the database: worker processes load this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fedperm.wire.aggregator import SubmissionState


class JobKind(StrEnum):
    CHECK = "check"
    FOLD = "fold"


@dataclass(frozen=True)
class Lease:
    """A job in the hands of one worker; `attempt` counts from 1."""

    job: int
    owner: str
    kind: JobKind
    run: str
    round: int
    client: str
    attempt: int


@dataclass(frozen=True)
class CheckTask:
    """Which upload to check, and under which key. `tensors` are the digests in its manifest; one of
    fedperm/1 has none."""

    sha256: str
    epoch: int
    tensors: Mapping[str, str]


@dataclass(frozen=True)
class Verdict:
    """What checking an update found. It is valid, or rejected with the reason, or dropped since
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

    client: str
    sha256: str


@dataclass(frozen=True)
class SealedRound:
    """What a fold needs to know."""

    epoch: int
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

    run: str
    round: int
    phase: str
    done: int
    total: int
