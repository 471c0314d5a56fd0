"""Checking an update: what runs in a worker process, on the stored file.

Imports neither the web nor the database: a worker process loads this module and little else.
"""

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fedperm.aggregation import BoundedUpdate
from fedperm.errors import BodyError, MessageError, SharedFactorError
from fedperm.fold_job import StoredMasks
from fedperm.norm_bound import BoundedValues
from fedperm.wire.update import decode_update, update_body
from fedperm_aggregator.records import UpdateTerms, Verdict


@dataclass(frozen=True)
class CheckJob:
    path: Path
    terms: UpdateTerms


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


def read_member(path: Path, sha256: str, terms: UpdateTerms) -> BoundedUpdate:
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
