"""Submissions: stored, checked, and what became of them."""

from collections.abc import Callable, Collection

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError
from fedperm.ids import RunName
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.events import KeyCompromised, SubmissionChecked, SubmissionStored
from fedperm.wire.signed import unverified
from fedperm.wire.statements import Manifest
from fedperm_aggregator.records import (
    CheckTask,
    JobKind,
    Lease,
    NewerEpoch,
    NewSubmission,
    Slot,
    StoredSubmission,
    SubmissionPlace,
    Verdict,
    WrittenBlob,
)
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.jobs import owned_job
from fedperm_aggregator.stores.lookup import place_of, the_round, the_submission
from fedperm_aggregator.stores.runs import newest_epoch, put_epoch_beside
from fedperm_aggregator.stores.views import slot_of
from fedperm_aggregator.tables import JobRow, RoundRow, SubmissionRow

_NOTHING = "0" * 64
"""In place of the digest of what was not sent."""

Judge = Callable[[Slot], StoredSubmission | None]


class SubmissionStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def slot(self, session: Session, place: SubmissionPlace) -> Slot:
        return slot_of(session, place)

    @transaction
    def store(
        self, session: Session, new: NewSubmission, judge: Judge, now: float
    ) -> tuple[StoredSubmission, bool]:
        """The submission and whether it is new. Judged again: the phase may be over by now."""
        place = new.place
        known = judge(slot_of(session, place))
        if known is not None:
            return known, False
        session.add(
            SubmissionRow(
                kind=place.kind,
                run=place.run,
                round=place.round,
                client=place.client,
                sha256=new.sha256,
                size=new.size,
                manifest=new.manifest,
                state=SubmissionState.STORED,
                received_at=now,
            )
        )
        session.add(
            JobRow(
                kind=JobKind.CHECK,
                run=place.run,
                round=place.round,
                submission=place.kind,
                client=place.client,
            )
        )
        stored = SubmissionStored(kind=place.kind, size=new.size)
        record(session, place.run, now, stored, number=place.round, client=place.client)
        return StoredSubmission(new.sha256, SubmissionState.STORED, now), True

    @transaction
    def decline(
        self, session: Session, place: SubmissionPlace, newer: NewerEpoch, now: float
    ) -> None:
        """The client sends nothing for a round whose key is outdated; so it is not waited for.
        The newer epoch is beside the run from here on, and the next round under it. From somebody
        who was not asked, has sent something, or comes late only the epoch is taken."""
        row, epoch = the_round(session, place.run, place.round), newer.epoch
        if epoch <= row.epoch:
            raise ConflictError(
                f"round {place.round} is under key epoch {row.epoch}, which {epoch} is not newer "
                "than",
                f"send the {place.kind}",
            )
        if epoch > newest_epoch(session, place.run):
            put_epoch_beside(session, place.run, epoch, newer.record, now, place.client)
        slot = slot_of(session, place)
        if not slot.is_asked or slot.stored is not None or slot.collects != place.kind:
            return
        reason = f"declined: the key has epoch {epoch}, and the round is under {row.epoch}"
        session.add(
            SubmissionRow(
                kind=place.kind,
                run=place.run,
                round=place.round,
                client=place.client,
                sha256=_NOTHING,
                size=0,
                manifest="",
                state=SubmissionState.REJECTED,
                reason=reason,
                received_at=now,
            )
        )
        told = SubmissionChecked(
            kind=place.kind,
            state=SubmissionState.REJECTED,
            reason=reason,
            norm_before=None,
            norm_after=None,
            bounded=None,
        )
        record(session, place.run, now, told, number=place.round, client=place.client)

    @transaction
    def check_task(self, session: Session, lease: Lease) -> CheckTask:
        row = the_submission(session, lease.place)
        manifest = unverified(row.manifest, Manifest)  # verified before it was stored
        of_round = the_round(session, lease.run, lease.round)
        aggregate = None
        if of_round.aggregate_sha256 is not None and of_round.aggregate_size is not None:
            aggregate = WrittenBlob(of_round.aggregate_sha256, of_round.aggregate_size)
        return CheckTask(row.sha256, of_round.epoch, manifest.tensors, aggregate)

    @transaction
    def settle(self, session: Session, lease: Lease, verdict: Verdict, now: float) -> bool:
        """Whether the verdict was written: only the owner of the job may."""
        job = owned_job(session, lease)
        if job is None:
            return False
        session.delete(job)
        row = the_submission(session, lease.place)
        row.state, row.reason, row.cpu_seconds = verdict.state, verdict.reason, verdict.cpu_seconds
        row.norm_before, row.norm_after = verdict.norm_before, verdict.norm_after
        row.bounded = verdict.bounded
        checked = SubmissionChecked(
            kind=row.kind,
            state=row.state,
            reason=row.reason,
            norm_before=row.norm_before,
            norm_after=row.norm_after,
            bounded=row.bounded,
        )
        record(session, row.run, now, checked, number=row.round, client=row.client)
        if verdict.reveals_key:
            compromised = KeyCompromised(
                hint="the client sent a factor of the public key: revoke it and rotate the key"
            )
            record(session, row.run, now, compromised, number=row.round, client=row.client)
        return True

    @transaction
    def waiting(
        self, session: Session, run: RunName, kept: Collection[str]
    ) -> list[tuple[SubmissionPlace, str]]:
        """Places and digests of what must lie on the disk: of rounds that are not closed, and all
        of the `kept` kinds."""
        needed = [SubmissionState.STORED, SubmissionState.VALID]
        of_round = and_(RoundRow.run == SubmissionRow.run, RoundRow.number == SubmissionRow.round)
        rows = (
            select(SubmissionRow)
            .join(RoundRow, of_round)
            .where(SubmissionRow.run == run, SubmissionRow.state.in_(needed))
            .where(or_(RoundRow.phase != "", SubmissionRow.kind.in_(kept)))
        )
        return [(place_of(row), row.sha256) for row in session.scalars(rows)]
