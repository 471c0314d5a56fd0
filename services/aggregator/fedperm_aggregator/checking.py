"""Checking an update: what runs in a worker process, on the stored file.

Imports neither the web nor the database: a worker process loads this module and little else.
"""

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fedperm.errors import BodyError, MessageError, SharedFactorError
from fedperm.norm_bound import BoundedValues, NormBound
from fedperm.planner import Plan
from fedperm.schemes.paillier.aggregation import BoundedUpdate
from fedperm.schemes.paillier.fold_job import StoredMasks
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.aggregator import UpdateState
from fedperm.wire.update import decode_update, update_body


@dataclass(frozen=True)
class Terms:
    """What a run says about its updates."""

    plan: Plan
    bound: NormBound | None
    public_key: PublicKey


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
    terms: Terms


def check_update(job: CheckJob) -> Verdict:
    """Header, values, ciphertexts and norm. What the sender did wrong is a verdict; what went
    wrong here is raised, and the job is tried again."""
    start = time.process_time()
    try:
        verdict = _examine(job)
    except SharedFactorError as error:
        verdict = Verdict(reason=error.message, reveals_key=True)
    except MessageError as error:
        verdict = Verdict(reason=error.message)
    return replace(verdict, cpu_seconds=time.process_time() - start)


def _examine(job: CheckJob) -> Verdict:
    terms = job.terms
    update = decode_update(mapped(job.path), terms.plan, terms.public_key)
    if terms.bound is None:
        return Verdict()
    bounded = terms.bound.apply(update.values, terms.plan.fixed_point)
    return Verdict(
        norm_before=bounded.norm_before,
        norm_after=bounded.norm_after,
        bounded=bounded.was_bounded,
    )


def read_member(path: Path, sha256: str, terms: Terms) -> BoundedUpdate:
    """A checked update as it is folded: its values bounded once more, which gives the same, its
    masks where they lie. A file that changed since it was acknowledged is refused."""
    octets = mapped(path)
    if hashlib.sha256(octets).hexdigest() != sha256:
        raise BodyError("a stored upload has changed since it was accepted", "check the disk")
    body = update_body(terms.plan, terms.public_key)
    values = body.decode(octets)["values"]
    if terms.bound is None:
        bounded = BoundedValues(values.copy(), 0.0, 0.0)
    else:
        bounded = terms.bound.apply(values, terms.plan.fixed_point)
    return BoundedUpdate(StoredMasks(path, body.offset_of("masks")), bounded.values)


def mapped(path: Path) -> memoryview:
    """The file in the address space, not in memory."""
    return np.memmap(path, np.uint8, "r").data
