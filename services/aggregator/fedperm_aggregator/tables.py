"""What the aggregator remembers. Bulk data are files (`blobs`); rows hold their digests."""

from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    Double,
    Enum,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from fedperm.ids import ClientName, EpochNumber, RoundNumber, RunName
from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm_aggregator.records import JobKind


def _by_value(kind: type[StrEnum]) -> Enum:
    """Stored as on the wire, in a plain text column."""
    return Enum(kind, native_enum=False, length=16, values_callable=lambda e: [m.value for m in e])


class Base(DeclarativeBase):
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        float: Double,
        RoundNumber: Integer,
        EpochNumber: Integer,
        dict[str, Any]: JSON,
        RunState: _by_value(RunState),
        RoundState: _by_value(RoundState),
        SubmissionState: _by_value(SubmissionState),
        JobKind: _by_value(JobKind),
    }


Name = String(63)
Digest = String(64)
Word = String(31)


class RunRow(Base):
    """`document` is as it was sent, `signature` its operator's, empty beside one of fedperm/1 or 2;
    `rounds` is its T, for answers that need no parsing."""

    __tablename__ = "runs"

    run: Mapped[RunName] = mapped_column(Name, primary_key=True)
    document: Mapped[bytes] = mapped_column(LargeBinary)
    signature: Mapped[str] = mapped_column(Text, default="")
    sha256: Mapped[str] = mapped_column(Digest)
    rounds: Mapped[int]
    state: Mapped[RunState]
    reason: Mapped[str] = mapped_column(Text, default="")
    has_model: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[float]


class EpochRow(Base):
    __tablename__ = "key_epochs"

    run: Mapped[RunName] = mapped_column(ForeignKey("runs.run"), primary_key=True)
    epoch: Mapped[EpochNumber] = mapped_column(primary_key=True)
    record: Mapped[str] = mapped_column(Text)
    received_at: Mapped[float]


class ParticipantRow(Base):
    """`signing_key` is the one that the client joined with; its uploads are signed by it."""

    __tablename__ = "participants"

    run: Mapped[RunName] = mapped_column(ForeignKey("runs.run"), primary_key=True)
    client: Mapped[ClientName] = mapped_column(Name, primary_key=True)
    signing_key: Mapped[str] = mapped_column(String(43))
    joined_at: Mapped[float]
    last_seen_at: Mapped[float]
    excluded: Mapped[bool] = mapped_column(default=False)


class RoundRow(Base):
    """`phase` is empty once the round is closed; `collects` is the kind of submission that the
    phase takes, empty if none. `scrubbed`: what was sent for a closed round is gone from the
    disk."""

    __tablename__ = "rounds"

    run: Mapped[RunName] = mapped_column(ForeignKey("runs.run"), primary_key=True)
    number: Mapped[RoundNumber] = mapped_column(primary_key=True)
    state: Mapped[RoundState]
    phase: Mapped[str] = mapped_column(Word, default="")
    collects: Mapped[str] = mapped_column(Word, default="")
    epoch: Mapped[EpochNumber]
    opened_at: Mapped[float]
    deadline_at: Mapped[float]
    extensions: Mapped[int] = mapped_column(default=0)
    sealed_at: Mapped[float | None]
    settled_at: Mapped[float | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    aggregate_sha256: Mapped[str | None] = mapped_column(Digest)
    aggregate_size: Mapped[int | None] = mapped_column(BigInteger)
    contributors: Mapped[int | None]
    folding_cpu: Mapped[float] = mapped_column(default=0.0)
    rerandomising_cpu: Mapped[float] = mapped_column(default=0.0)
    scrubbed: Mapped[bool] = mapped_column(default=False)


class SelectionRow(Base):
    """Who is asked for which kind of submission."""

    __tablename__ = "selections"

    run: Mapped[RunName] = mapped_column(Name, primary_key=True)
    round: Mapped[RoundNumber] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Word, primary_key=True)
    client: Mapped[ClientName] = mapped_column(Name, primary_key=True)


class SubmissionRow(Base):
    """The manifest stays: it proves who sent what was counted."""

    __tablename__ = "submissions"

    run: Mapped[RunName] = mapped_column(Name, primary_key=True)
    round: Mapped[RoundNumber] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Word, primary_key=True)
    client: Mapped[ClientName] = mapped_column(Name, primary_key=True)
    sha256: Mapped[str] = mapped_column(Digest)
    size: Mapped[int] = mapped_column(BigInteger)
    manifest: Mapped[str] = mapped_column(Text)
    state: Mapped[SubmissionState]
    reason: Mapped[str] = mapped_column(Text, default="")
    received_at: Mapped[float]
    norm_before: Mapped[float | None]
    norm_after: Mapped[float | None]
    bounded: Mapped[bool | None]
    cpu_seconds: Mapped[float] = mapped_column(default=0.0)


class ReportRow(Base):
    __tablename__ = "reports"

    run: Mapped[RunName] = mapped_column(Name, primary_key=True)
    round: Mapped[RoundNumber] = mapped_column(primary_key=True)
    client: Mapped[ClientName] = mapped_column(Name, primary_key=True)
    report: Mapped[str] = mapped_column(Text)
    received_at: Mapped[float]


class JobRow(Base):
    """Work to be done; it is gone when the work is. Nobody else may claim it before `free_at`;
    `owner` is new with every claim. `submission` is the kind of what is checked."""

    __tablename__ = "jobs"
    __table_args__ = (UniqueConstraint("kind", "run", "round", "client"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[JobKind]
    run: Mapped[RunName] = mapped_column(Name)
    round: Mapped[RoundNumber]
    submission: Mapped[str] = mapped_column(Word, default="")
    client: Mapped[ClientName] = mapped_column(Name, default="")
    owner: Mapped[str | None] = mapped_column(String(32))
    free_at: Mapped[float] = mapped_column(default=0.0)
    attempts: Mapped[int] = mapped_column(default=0)


class EventRow(Base):
    """Append-only. SQLite numbers rows in columns of the type INTEGER only, of 64 bits there."""

    __tablename__ = "events"
    __table_args__ = (Index("events_of_a_run", "run", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run: Mapped[RunName] = mapped_column(Name)
    at: Mapped[float]
    event: Mapped[str] = mapped_column(String(32))
    round: Mapped[RoundNumber]
    client: Mapped[ClientName] = mapped_column(Name)
    details: Mapped[dict[str, Any]]


class CheckpointRow(Base):
    """The newest sealed checkpoint of a run whose octets are here."""

    __tablename__ = "checkpoints"

    run: Mapped[RunName] = mapped_column(ForeignKey("runs.run"), primary_key=True)
    round: Mapped[RoundNumber]
    epoch: Mapped[EpochNumber]
    lineage: Mapped[str] = mapped_column(Digest)
    sha256: Mapped[str] = mapped_column(Digest)
    size: Mapped[int] = mapped_column(BigInteger)


class CheckpointStatementRow(Base):
    """What a contributor to a round has signed of the checkpoint after it."""

    __tablename__ = "checkpoint_statements"

    run: Mapped[RunName] = mapped_column(Name, primary_key=True)
    client: Mapped[ClientName] = mapped_column(Name, primary_key=True)
    round: Mapped[RoundNumber] = mapped_column(primary_key=True)
    epoch: Mapped[EpochNumber]
    lineage: Mapped[str] = mapped_column(Digest)
    sha256: Mapped[str] = mapped_column(Digest)
    size: Mapped[int] = mapped_column(BigInteger)
    statement: Mapped[str] = mapped_column(Text)
    certificate: Mapped[str] = mapped_column(Text)
