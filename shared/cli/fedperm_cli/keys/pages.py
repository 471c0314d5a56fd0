"""Keys, rotations and the audit log for people."""

from fedperm.ids import KeyName
from fedperm.plain_text import one_line
from fedperm.wire.key_server import AuditEntry, DestroyedEpoch, KeyList, KeyStatus
from fedperm_cli.audit.log import VerifiedLog
from fedperm_cli.keys.rotation import Rotation
from fedperm_cli.measures import as_time
from fedperm_cli.pages import facts, listing, show


def print_key(status: KeyStatus) -> None:
    show(
        facts(
            ("key", status.key),
            ("scheme", str(status.scheme)),
            ("held", status.keys),
            ("newest epoch", str(status.latest_epoch)),
            ("fingerprint", status.key_id),
            ("made", as_time(status.created_at)),
        )
    )


def print_keys(found: KeyList) -> None:
    table = listing("key", "scheme", "held", "epoch", "fingerprint", "made", right=("epoch",))
    for key in found.keys:
        made = as_time(key.created_at)
        scheme, epoch = str(key.scheme), str(key.latest_epoch)
        table.add_row(key.key, scheme, key.keys, epoch, key.key_id[:16], made)
    show(table if found.keys else "no keys yet: fedperm keys create NAME")


def print_rotation(rotation: Rotation) -> None:
    show(f"key {rotation.key} has epoch {rotation.epoch}, fingerprint {rotation.key_id}")
    for run in rotation.runs:
        show(f"run {run.run} uses epoch {run.epoch} from its next round on")
    if not rotation.runs:
        show(still_to_do(rotation.key))


def print_destroyed(gone: DestroyedEpoch) -> None:
    when = as_time(gone.destroyed_at)
    show(f"the secret key of epoch {gone.epoch} of key {gone.key} was destroyed at {when}")
    show("clients that have it keep it; so do backups of the key server's database: remove them")


def print_log(log: VerifiedLog) -> None:
    show(*map(_line, log.entries))
    show(f"unbroken: {log.end.number:,} entries, the last one with hash")
    show(f"  {log.end.hash}")
    show("keep it: `fedperm keys audit --kept HASH` notices if entries are cut off the end")


def _line(entry: AuditEntry) -> str:
    details = " ".join(f"{name}={value}" for name, value in entry.details.items())
    by = "" if entry.actor is None else f" by {entry.actor}"
    at = "" if entry.address is None else f" from {entry.address}"
    return one_line(f"{entry.number:6}  {as_time(entry.at)}  {entry.event:18}{details}{by}{at}")


def still_to_do(key: KeyName) -> str:
    """The run operator needs no key operator's token for it."""
    return (
        f"clients send nothing more under an older epoch of key {key}: the next one that is asked "
        "brings the new epoch to its run. To lose no round, the run operator does for each run:\n"
        "  fedperm run rekey RUN"
    )
