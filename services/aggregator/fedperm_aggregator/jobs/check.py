"""Checking a submission: `check_submission` runs in a worker, `CheckHandler` in the aggregator.

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
from fedperm.submissions import SUBMISSIONS, RoundContext, SubmissionKind
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.body import Body
from fedperm.workers import Workers
from fedperm_aggregator import blob_names
from fedperm_aggregator.records import CheckTask, Lease, Verdict

if TYPE_CHECKING:
    from fedperm_aggregator.run_documents import RunDocuments
    from fedperm_aggregator.stores import Stores


@dataclass(frozen=True)
class CheckJob:
    """`tensors` are the digests that the sender signed, by name."""

    kind: SubmissionKind
    submission: BlobRef
    body: Body
    tensors: Mapping[str, str]
    context: RoundContext


def check_submission(job: CheckJob) -> Verdict:
    """The digests of its tensors, then the checks of its kind. What the sender did wrong is a
    verdict; what went wrong here is raised, and the job is tried again."""
    start = time.process_time()
    try:
        octets = open_blob(job.submission).view()
        if job.tensors and job.body.digests(octets) != job.tensors:
            return Verdict(
                SubmissionState.REJECTED, "a tensor is not the one that its manifest names"
            )
        norms = job.kind.examine(octets, job.context).norms
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
    """Has a submission checked, and writes down what was found."""

    def __init__(
        self,
        stores: "Stores",
        documents: "RunDocuments",
        blobs: BlobStore,
        clock: Clock,
    ) -> None:
        self._submissions = stores.submissions
        self._participants = stores.participants
        self._documents = documents
        self._blobs = blobs
        self._clock = clock

    def perform(self, lease: Lease, workers: Workers) -> None:
        task = self._submissions.check_task(lease)
        kind = SUBMISSIONS[lease.submission]
        body = kind.body(self._documents.of(lease.run).content)
        name = blob_names.submission(lease.place, task.sha256)
        submission = self._blobs.ref(name, task.sha256, body.size)
        context = self._context(lease, task)
        job = CheckJob(kind, submission, body, task.tensors, context)
        verdict = workers.executor.submit(check_submission, job).result()
        if verdict.reveals_key:
            # before the verdict ends the job: after a crash in between both are done again
            self._participants.exclude(lease.run, lease.client, self._clock.now())
        written = self._submissions.settle(lease, verdict, self._clock.now())
        if written and verdict.state is SubmissionState.REJECTED:
            # not needed any more, and it may hold a factor of the key
            self._blobs.remove(name)

    def _context(self, lease: Lease, task: CheckTask) -> RoundContext:
        aggregate = None
        if task.aggregate is not None:
            sha256, size = task.aggregate.sha256, task.aggregate.size
            name = blob_names.aggregate(lease.run, lease.round, sha256)
            aggregate = self._blobs.ref(name, sha256, size)
        terms = self._documents.terms(lease.run, task.epoch)
        return RoundContext(terms, lease.round, lease.client, aggregate)

    def give_up(self, lease: Lease, reason: str) -> None:
        verdict = Verdict(SubmissionState.REJECTED, f"could not be checked: {reason}")
        self._submissions.settle(lease, verdict, self._clock.now())

    def set_aside(self, lease: Lease, reason: str) -> None:
        """The round goes on without it; its sender is told whose trouble it was."""
        verdict = Verdict(SubmissionState.DROPPED, f"the aggregator could not check it: {reason}")
        self._submissions.settle(lease, verdict, self._clock.now())
