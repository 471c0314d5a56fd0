"""This client as a witness of the key server's audit log: the newest head that it was told of."""

import logging
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from fedperm.audit_chain import ChainEnd
from fedperm.audit_witness import HeldHead, Witness, check_receipt
from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.errors import UntrustedError
from fedperm.services import CLIENT
from fedperm.wire.key_server import ReleasedKey
from fedperm.wire.signed import verify_any
from fedperm.wire.statements import AuditHead
from fedperm_client.errors import StateError
from fedperm_client.identity import ClientIdentity

log = logging.getLogger(__name__)

_MOST_CONTRADICTING = 8
"""One is proof enough; a key server must not fill a client's disk."""


class AuditWitness:
    """`lost` is the hash of a head that the owner says the log may have lost."""

    def __init__(self, path: Path, identity: ClientIdentity, lost: str | None) -> None:
        self._path = path
        self._identity = identity
        self._lost = lost

    def holds(self) -> int | None:
        """The number of the newest head, to ask for what the log has there now."""
        kept = self._read()
        return None if kept is None else kept.newest.claimed.number

    def take(self, released: ReleasedKey) -> None:
        """Before the key is used. The log only grows: it must be longer than it was, and hold the
        entry that was its last."""
        head = verify_any(released.head, AuditHead, self._identity.key_servers)
        check_receipt(released, head)
        newest, kept = self._held(released.head), self._read()
        if kept is None:
            self.keep(self._first(newest))
            return
        before = kept.newest.claimed
        there = None if released.held is None else self._held(released.held)
        if there is not None and there.verified() == before and head.number > before.number:
            self.keep(_with(kept, newest=newest))
        else:
            self._contradict(kept, newest, there or newest)

    def _held(self, head: str) -> HeldHead:
        """With the key of whichever of the key server's identities has signed it."""
        *successors, last = (
            HeldHead(signing_key=key, head=head) for key in reversed(self._identity.believed)
        )
        for held in successors:
            with suppress(UntrustedError):
                held.verified()
                return held
        return last

    def _contradict(self, kept: Witness, newest: HeldHead, rival: HeldHead) -> None:
        before = kept.newest.claimed
        if self._lost == before.hash:
            log.warning("the key server's log lost entry %d, as was said", before.number)
            self.keep(_with(kept, newest=newest, lost=(*kept.lost, kept.newest)))
            return
        if len(kept.contradicting) < _MOST_CONTRADICTING:
            self.keep(_with(kept, contradicting=(*kept.contradicting, rival)))
        raise _set_back(before)

    def _first(self, held: HeldHead) -> Witness:
        return Witness(key=self._identity.key, client=self._identity.name, newest=held)

    @persisting
    def keep(self, witness: Witness) -> None:
        write_durably(self._path, witness.model_dump_json().encode())

    def _read(self) -> Witness | None:
        if not self._path.exists():
            return None
        try:
            return Witness.model_validate_json(self._path.read_bytes())
        except ValidationError:
            raise StateError(f"{self._path} is damaged", "restore it from a backup") from None


def _with(kept: Witness, **changes: object) -> Witness:
    return kept.model_copy(update=changes)


def _set_back(before: ChainEnd) -> UntrustedError:
    return UntrustedError(
        f"the key server's audit log was rewritten or set back: entry {before.number} with hash "
        f"{before.hash} was in it, and is no more",
        "ask the key operator; if a backup was restored and you accept that, set "
        f"{CLIENT.env_prefix}LOST_AUDIT_HEAD={before.hash}",
    )
