"""Checking an update: `check_update` runs in a worker process, `CheckHandler` in the aggregator.

A worker process loads this module, so it imports neither the web nor the database.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.clock import Clock
from fedperm.errors import MessageError, SharedFactorError
from fedperm.uploads.form import UpdateTerms, examine
from fedperm.wire.aggregator import SubmissionState
from fedperm.workers import Workers
from fedperm_aggregator import blob_names
from fedperm_aggregator.records import Lease, Verdict

if TYPE_CHECKING:
    from fedperm_aggregator.run_documents import RunDocuments
    from fedperm_aggregator.stores import Stores


@dataclass(frozen=True)
class CheckJob:
    """`tensors` are the digests that the sender signed, by name."""

    upload: BlobRef
    terms: UpdateTerms
    tensors: Mapping[str, str]


def check_update(job: CheckJob) -> Verdict:
    """Header, then the form's checks. What the sender did wrong is a verdict; what went wrong here
    is raised, and the job is tried again."""
    start = time.process_time()
    try:
        octets = open_blob(job.upload).view()
        if job.tensors and job.terms.body.digests(octets) != job.tensors:
            return Verdict(
                SubmissionState.REJECTED, "a tensor is not the one that its manifest names"
            )
        norms = examine(octets, job.terms).norms
        verdict = Verdict()
        if norms is not None:
            verdict = Verdict(
                norm_before=norms.before, norm_after=norms.after, bounded=norms.bounded
            )
    except MessageError as error:
        reveals_key = isinstance(error, SharedFactorError)
        verdict = Verdict(SubmissionState.REJECTED, error.message, reveals_key=reveals_key)
    return replace(verdict, cpu_seconds=time.process_time() - start)


class CheckHandler:
    """Has an update checked, and writes down what was found."""

    def __init__(
        self,
        stores: "Stores",
        documents: "RunDocuments",
        blobs: BlobStore,
        clock: Clock,
    ) -> None:
        self._updates = stores.submissions
        self._participants = stores.participants
        self._documents = documents
        self._blobs = blobs
        self._clock = clock

    def perform(self, lease: Lease, workers: Workers) -> None:
        task = self._updates.check_task(lease)
        terms = self._documents.terms(lease.run, task.epoch)
        name = blob_names.upload(lease.run, lease.round, lease.client, task.sha256)
        job = CheckJob(self._blobs.ref(name, task.sha256, terms.body.size), terms, task.tensors)
        verdict = workers.executor.submit(check_update, job).result()
        if verdict.reveals_key:
            # before the verdict ends the job: after a crash in between both are done again
            self._participants.exclude(lease.run, lease.client, self._clock.now())
        written = self._updates.settle(lease, verdict, self._clock.now())
        if written and verdict.state is SubmissionState.REJECTED:
            # not needed any more, and it may hold a factor of the key
            self._blobs.remove(name)

    def give_up(self, lease: Lease, reason: str) -> None:
        verdict = Verdict(SubmissionState.REJECTED, f"could not be checked: {reason}")
        self._updates.settle(lease, verdict, self._clock.now())

    def set_aside(self, lease: Lease, reason: str) -> None:
        """The round goes on without the update; its sender is told whose trouble it was."""
        verdict = Verdict(SubmissionState.DROPPED, f"the aggregator could not check it: {reason}")
        self._updates.settle(lease, verdict, self._clock.now())
