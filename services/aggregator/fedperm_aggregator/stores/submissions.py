"""Updates: stored, checked, and what became of them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.events import KeyCompromised, UpdateChecked, UpdateStored
from fedperm.wire.signed import unverified
from fedperm.wire.statements import Manifest
from fedperm_aggregator.records import (
    CheckTask,
    Claim,
    JobKind,
    Lease,
    NewUpdate,
    Slot,
    StoredUpdate,
    Verdict,
)
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.jobs import add_job, owned_job
from fedperm_aggregator.stores.lookup import the_round, the_update
from fedperm_aggregator.stores.views import slot_of
from fedperm_aggregator.submissions.rules import judge
from fedperm_aggregator.tables import UpdateRow


class SubmissionStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def slot(self, session: Session, run: str, number: int, client: str) -> Slot:
        return slot_of(session, run, number, client)

    @transaction
    def store(
        self, session: Session, new: NewUpdate, claim: Claim, now: float
    ) -> tuple[StoredUpdate, bool]:
        """The update and whether it is new. Judged again: the round may be sealed by now."""
        known = judge(slot_of(session, new.run, new.round, new.client), claim)
        if known is not None:
            return known, False
        session.add(
            UpdateRow(
                run=new.run,
                round=new.round,
                client=new.client,
                sha256=claim.sha256,
                size=new.size,
                manifest=new.manifest,
                state=SubmissionState.STORED,
                received_at=now,
            )
        )
        add_job(session, JobKind.CHECK, new.run, new.round, new.client)
        stored = UpdateStored(size=new.size)
        record(session, new.run, now, stored, number=new.round, client=new.client)
        return StoredUpdate(claim.sha256, SubmissionState.STORED, now), True

    @transaction
    def check_task(self, session: Session, lease: Lease) -> CheckTask:
        row = the_update(session, lease.run, lease.round, lease.client)
        manifest = unverified(row.manifest, Manifest)  # verified before it was stored
        epoch = the_round(session, lease.run, lease.round).epoch
        return CheckTask(row.sha256, epoch, manifest.tensors)

    @transaction
    def settle(self, session: Session, lease: Lease, verdict: Verdict, now: float) -> bool:
        """Whether the verdict was written: only the owner of the job may."""
        job = owned_job(session, lease)
        if job is None:
            return False
        session.delete(job)
        row = the_update(session, lease.run, lease.round, lease.client)
        _fill_in(row, verdict)
        _record_check(session, row, now)
        if verdict.reveals_key:
            _record_compromise(session, row, now)
        return True

    @transaction
    def waiting(self, session: Session, run: str) -> list[tuple[int, str, str]]:
        """(round, client, sha256) of the uploads that must lie on the disk."""
        needed = [SubmissionState.STORED, SubmissionState.VALID]
        rows = select(UpdateRow).where(UpdateRow.run == run, UpdateRow.state.in_(needed))
        return [(row.round, row.client, row.sha256) for row in session.scalars(rows)]


def _fill_in(row: UpdateRow, verdict: Verdict) -> None:
    row.state, row.reason, row.cpu_seconds = verdict.state, verdict.reason, verdict.cpu_seconds
    row.norm_before, row.norm_after = verdict.norm_before, verdict.norm_after
    row.bounded = verdict.bounded


def _record_check(session: Session, row: UpdateRow, now: float) -> None:
    checked = UpdateChecked(
        state=row.state,
        reason=row.reason,
        norm_before=row.norm_before,
        norm_after=row.norm_after,
        bounded=row.bounded,
    )
    record(session, row.run, now, checked, number=row.round, client=row.client)


def _record_compromise(session: Session, row: UpdateRow, now: float) -> None:
    compromised = KeyCompromised(
        hint="the client sent a factor of the public key: revoke it and rotate the key"
    )
    record(session, row.run, now, compromised, number=row.round, client=row.client)
