"""Checking an update: what runs in a worker process, on the stored file.

Imports neither the web nor the database: a worker process loads this module and little else.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from fedperm.errors import MessageError, SharedFactorError
from fedperm.uploads.form import UpdateTerms, examine, mapped
from fedperm.wire.aggregator import UpdateState


@dataclass(frozen=True)
class Verdict:
    """What checking an update found. `reason` is empty for a valid one; `reveals_key` if it
    holds a factor of the public key."""

    reason: str = ""
    reveals_key: bool = False
    norm_before: float | None = None
    norm_after: float | None = None
    bounded: bool | None = None
    cpu_seconds: float = 0.0

    @property
    def state(self) -> UpdateState:
        return UpdateState.REJECTED if self.reason else UpdateState.VALID


@dataclass(frozen=True)
class CheckJob:
    path: Path
    terms: UpdateTerms


def check_update(job: CheckJob) -> Verdict:
    """Header, then the form's checks. What the sender did wrong is a verdict; what went wrong here
    is raised, and the job is tried again."""
    start = time.process_time()
    try:
        norms = examine(mapped(job.path), job.terms).norms
    except MessageError as error:
        reveals_key = isinstance(error, SharedFactorError)
        seconds = time.process_time() - start
        return Verdict(reason=error.message, reveals_key=reveals_key, cpu_seconds=seconds)
    seconds = time.process_time() - start
    if norms is None:
        return Verdict(cpu_seconds=seconds)
    return Verdict(
        norm_before=norms.before,
        norm_after=norms.after,
        bounded=norms.bounded,
        cpu_seconds=seconds,
    )
