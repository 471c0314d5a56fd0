"""Keys, rotations and the audit log for people."""

from fedperm.ids import KeyName
from fedperm.wire.key_server import AuditEntry, KeyList, KeyStatus
from fedperm_cli.keys.audit import VerifiedLog
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


def print_log(log: VerifiedLog) -> None:
    show(*map(_line, log.entries))
    show(f"unbroken: {log.end.number:,} entries, the last one with hash")
    show(f"  {log.end.hash}")
    show("keep it: `fedperm keys audit --kept HASH` notices if entries are cut off the end")


def _line(entry: AuditEntry) -> str:
    details = " ".join(f"{name}={value}" for name, value in entry.details.items())
    return f"{entry.number:6}  {as_time(entry.at)}  {entry.event:18}{details}"


def still_to_do(key: KeyName) -> str:
    """The run operator needs no key operator's token for it."""
    return (
        f"runs with key {key} go on with an older epoch; for each of them, the run operator does:\n"
        "  fedperm run rekey RUN"
    )
