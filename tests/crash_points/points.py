"""The crash points that the matrices pass through. `test_completeness` holds them against what a
whole federation passes in its life."""


def transaction(*steps: str) -> tuple[str, ...]:
    return tuple(f"{step}.{moment}" for step in steps for moment in ("uncommitted", "done"))


def file(*steps: str) -> tuple[str, ...]:
    return tuple(f"{step}.{moment}" for step in steps for moment in ("unnamed", "done"))


def done(*steps: str) -> tuple[str, ...]:
    """Of steps that have no moment but their end."""
    return tuple(f"{step}.done" for step in steps)


BODY = (*done("Sink.write", "Sink.finish"), *file("FileBlobStore.keep"))
"""A body that is received and kept under its name."""

TABLES = transaction("upgrade")
"""Of either server's database, at its first start."""

SETTING_UP = {
    "tables": TABLES,
    "run": transaction("RunStore.create"),
    "model": (*BODY, *done("FileBlobStore.remove"), *transaction("RunStore.record_model")),
    "wait": transaction("RoundStore.advance.Wait"),
    "epoch": transaction("RunStore.add_epoch"),
    "join": transaction("ParticipantStore.join"),
    "stop": transaction("RunStore.stop"),
    "resume": transaction("RunStore.resume"),
    "exclude": transaction("ParticipantStore.exclude"),
}

ROUND = {
    "open": transaction("RoundStore.advance.Open"),
    "upload": (*BODY, *transaction("SubmissionStore.store"), *done("FileBlobStore.remove")),
    "check": transaction("JobStore.claim", "SubmissionStore.settle"),
    "factor": (
        *transaction("ParticipantStore.exclude", "SubmissionStore.settle"),
        *done("FileBlobStore.remove"),
    ),
    "seal": transaction("RoundStore.advance.Advance"),
    "start": (
        *done("FileBlobStore.sweep_incoming", "FileBlobStore.sweep"),
        *transaction("JobStore.free_all"),
    ),
    "fold": (
        *transaction("EventStore.progress"),
        *file("FileBlobStore.write"),
        *transaction("RoundStore.keep_aggregate"),
    ),
    "scrub": (*done("FileBlobStore.remove_all"), *transaction("RoundStore.mark_scrubbed")),
    "report": transaction("ReportStore.add"),
    "vouch": transaction("CheckpointStore.vouch"),
    "checkpoint": (*BODY, *transaction("CheckpointStore.keep"), *done("FileBlobStore.remove")),
    "complete": transaction("RoundStore.advance.Complete"),
}

TROUBLE = {
    "decline": transaction("SubmissionStore.decline"),
    "presence": transaction("ParticipantStore.save"),
    "lease": transaction("JobStore.renew"),
    "stop": transaction("JobStore.give_back"),
    "failure": transaction("JobStore.try_again", "RoundStore.give_up"),
    "deadline": transaction("RoundStore.advance.Extend", "RoundStore.advance.Abort"),
    "end": transaction("RoundStore.advance.Fail"),
}

AGGREGATOR = frozenset(
    point
    for matrix in (SETTING_UP, ROUND, TROUBLE)
    for points in matrix.values()
    for point in points
)

KEY_SERVER_STEPS = {
    "tables": TABLES,
    "identity": transaction("IntegrityStore.keep", "IdentityStore.keep"),
    "key": transaction("KeyStore.create"),
    "rotation": transaction("KeyStore.rotate"),
    "mint": transaction("TokenStore.mint"),
    "token": transaction("TokenStore.revoke"),
    "enrol": transaction("ClientStore.enrol.Admitted"),
    "refuse": transaction("ClientStore.enrol.Refused"),
    "assertion": transaction("AccessStore.use_assertion"),
    "release": transaction("AccessStore.record_release"),
    "client": transaction("ClientStore.revoke"),
    "destroy": transaction("KeyStore.destroy"),
    "rewrap": transaction("SecretStore.rewrap"),
    "succeed": transaction("IdentityStore.succeed"),
    "retire": transaction("IdentityStore.retire"),
    "tampering": transaction("AuditStore.record_tampering"),
}

KEY_SERVER = frozenset(point for points in KEY_SERVER_STEPS.values() for point in points)

CLIENT_STEPS = {
    "enrol": (
        *file("StateDirectory.mark_layout", "Ledger.start", "ClientKeys.kept_at"),
        *file("keep_enrolment", "ModelStore.save", "AuditWitness.keep"),
    ),
    "send": file("NewestEpoch.hear", "Outbox.put", "Ledger.charge", "Outbox.acknowledge"),
    "settle": (*file("ModelStore.save"), *done("Outbox.clear", "History.add")),
    "finish": file("export_model", "Summary.write"),
    "refuse": done("Outbox.discard"),
}

CLIENT = frozenset(point for points in CLIENT_STEPS.values() for point in points)
