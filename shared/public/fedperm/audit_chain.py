"""The key server's audit log as a chain of hashes.

A changed, removed, added or reordered entry breaks it. What a chain cannot show is that entries
are missing at its end: whoever keeps the end that `verify_chain` answered can, by continuing
from there.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fedperm.errors import UntrustedError
from fedperm.wire.key_server import AuditEntry


@dataclass(frozen=True)
class ChainEnd:
    """Number and hash of the last entry."""

    number: int
    hash: str


START = ChainEnd(0, "0" * 64)
"""The end of an empty log."""


def next_entry(
    end: ChainEnd,
    at: float,
    event: str,
    details: dict[str, Any],
    *,
    actor: str | None = None,
    address: str | None = None,
) -> AuditEntry:
    """The entry that continues the chain."""
    entry = AuditEntry(
        number=end.number + 1,
        at=at,
        event=event,
        details=details,
        actor=actor,
        address=address,
        previous=end.hash,
        hash=START.hash,
    )
    return entry.model_copy(update={"hash": _hash(entry)})


def verify_chain(entries: Iterable[AuditEntry], start: ChainEnd = START) -> ChainEnd:
    """The end of the chain, if the entries continue it from `start` on; an error if not."""
    end = start
    for entry in entries:
        if (entry.number, entry.previous) != (end.number + 1, end.hash):
            raise broken(f"entry {entry.number} does not follow entry {end.number}")
        if entry.hash != _hash(entry):
            raise broken(f"entry {entry.number} was changed")
        end = ChainEnd(entry.number, entry.hash)
    return end


def _hash(entry: AuditEntry) -> str:
    members = entry.model_dump(exclude={"hash"})
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def broken(what: str) -> UntrustedError:
    """Of a log that cannot be believed."""
    return UntrustedError(
        f"the audit log is broken: {what}", "compare it with an earlier copy, and ask who wrote it"
    )
