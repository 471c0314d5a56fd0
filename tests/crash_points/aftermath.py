"""What a killed aggregator left on the disk, before anybody tidies up: rows and files must agree.

A sweep at the next start would hide most wrong orders of writing.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

Place = tuple[str, int, str]
"""Run, round, client."""

_NEEDED = ("stored", "valid")
_MAY_REPEAT = ("fold-progress", "job-failed", "run-stopped", "run-resumed", "round-extended")


@contextmanager
def reading(state: Path) -> Iterator[sqlite3.Connection]:
    """Without the recovery that a writer would begin with."""
    with closing(sqlite3.connect(f"file:{state / 'aggregator.db'}?mode=ro", uri=True)) as database:
        yield database


def contradictions(state: Path) -> list[str]:
    with reading(state) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
            return []
        looks = (_models, _updates, _rounds, _checkpoints)
        return [found for look in looks for found in look(database, state)]


def missing(state: Path, acknowledged: set[Place]) -> list[str]:
    """Updates that a client was told are there."""
    with reading(state) as database:
        kept = set(database.execute("SELECT run, round, client FROM submissions"))
    return [f"the acknowledged update {place}" for place in acknowledged - kept]


def repetitions(state: Path) -> list[str]:
    """What happened once and is recorded twice."""
    query = f"""
        SELECT run, round, client, event FROM events WHERE event NOT IN {_MAY_REPEAT}
        GROUP BY run, round, client, event, CASE event WHEN 'key-epoch' THEN details END
        HAVING count(*) > 1"""  # noqa: S608 (our own words)
    with reading(state) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchone():
            return []
        return [" ".join(map(str, row)) for row in database.execute(query)]


def has_job_at_work(state: Path) -> bool:
    with reading(state) as database:
        return bool(database.execute("SELECT 1 FROM jobs WHERE owner IS NOT NULL").fetchone())


def _models(database: sqlite3.Connection, state: Path) -> Iterator[str]:
    for (run,) in database.execute("SELECT run FROM runs WHERE has_model"):
        if not (state / "runs" / run / "initial-model.safetensors").exists():
            yield f"run {run} has lost its initial model"


def _updates(database: sqlite3.Connection, state: Path) -> Iterator[str]:
    query = "SELECT run, round, client, sha256 FROM submissions WHERE state IN (?, ?)"
    for run, number, client, sha256 in database.execute(query, _NEEDED):
        uploads = state / "runs" / run / "rounds" / str(number) / "uploads"
        if not _holds(uploads / f"{client}.{sha256}.safetensors", sha256):
            yield f"the update of {client} for round {number} of {run} has no file"


def _checkpoints(database: sqlite3.Connection, state: Path) -> Iterator[str]:
    for run, number, epoch, sha256 in database.execute(
        "SELECT run, round, epoch, sha256 FROM checkpoints"
    ):
        name = f"checkpoint.{number}.{epoch}.{sha256}.safetensors"
        if not _holds(state / "runs" / run / name, sha256):
            yield f"run {run} offers the checkpoint of round {number} without its octets"


def _rounds(database: sqlite3.Connection, state: Path) -> Iterator[str]:
    query = "SELECT run, number, aggregate_sha256, scrubbed FROM rounds"
    for run, number, sha256, scrubbed in database.execute(query):
        folder = state / "runs" / run / "rounds" / str(number)
        if sha256 and not _holds(folder / f"aggregate.{sha256}.safetensors", sha256):
            yield f"round {number} of {run} is published without its aggregate"
        if scrubbed and list(folder.glob("uploads/*")):
            yield f"round {number} of {run} is marked as scrubbed and is not"


def _holds(path: Path, sha256: str) -> bool:
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
