"""Checking an update: `check_update` runs in a worker process, `CheckHandler` in the aggregator.

A worker process loads this module, so it imports neither the web nor the database.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedperm.clock import Clock
from fedperm.errors import MessageError, SharedFactorError
from fedperm.wire.update import decode_update
from fedperm_aggregator.blobs import Blobs
from fedperm_aggregator.jobs.pool import WorkerPool
from fedperm_aggregator.records import Lease, UpdateTerms, Verdict

if TYPE_CHECKING:
    from fedperm_aggregator.documents import Documents
    from fedperm_aggregator.stores import Stores


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


def mapped(path: Path) -> memoryview:
    """The file in the address space, not in memory."""
    return np.memmap(path, np.uint8, "r").data


class CheckHandler:
    """Has an update checked, and writes down what was found."""

    def __init__(
        self, stores: "Stores", documents: "Documents", blobs: Blobs, pool: WorkerPool, clock: Clock
    ) -> None:
        self._updates = stores.updates
        self._participants = stores.participants
        self._documents = documents
        self._blobs = blobs
        self._pool = pool
        self._clock = clock

    def perform(self, lease: Lease) -> None:
        task = self._updates.check_task(lease)
        path = self._blobs.upload(lease.run, lease.round, lease.client, task.sha256)
        job = CheckJob(path, self._documents.terms(lease.run, task.epoch))
        verdict = self._pool.workers.executor.submit(check_update, job).result()
        if verdict.reveals_key:
            # before the verdict ends the job: after a crash in between both are done again
            self._participants.exclude(lease.run, lease.client, self._clock.now())
        written = self._updates.settle(lease, verdict, self._clock.now())
        if written and verdict.reason:
            # not needed any more, and it may hold a factor of the key
            self._blobs.remove(path)

    def give_up(self, lease: Lease, reason: str) -> None:
        verdict = Verdict(reason=f"could not be checked: {reason}")
        self._updates.settle(lease, verdict, self._clock.now())
