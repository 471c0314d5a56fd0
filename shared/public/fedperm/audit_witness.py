"""Witnesses of the key server's audit log: those who were told where it ended, by its signature.

Every release hands out the entry that records it and a signed head: the log's end with that entry.
A client keeps the newest head. A log that was rewritten or set back does not hold it any more, and
the key server cannot tell two clients different logs without one of them holding the proof.
"""

from fedperm.audit_chain import ChainEnd, verify_chain
from fedperm.audit_register import Register
from fedperm.errors import UntrustedError
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import AuditEntry, ReleasedKey
from fedperm.wire.message import ClientField, KeyField, Many, Message
from fedperm.wire.public_keys import KeyText, fingerprint, signing_key
from fedperm.wire.signed import unverified, verify
from fedperm.wire.statements import AuditHead


class HeldHead(Message):
    """A signed head, and the signing key that it was verified with."""

    signing_key: KeyText
    head: str

    @property
    def claimed(self) -> ChainEnd:
        """Of a head that was verified when it came."""
        return end_of(unverified(self.head, AuditHead))

    def verified(self) -> ChainEnd:
        return end_of(verify(self.head, AuditHead, signing_key(self.signing_key)))


class Witness(Message):
    """What a client holds, as it is on its disk. `contradicting` are heads that do not go with
    `newest`; `lost` are those of which the client's owner has accepted that the log lost them."""

    key: KeyField
    client: ClientField
    newest: HeldHead
    contradicting: Many[HeldHead] = ()
    lost: Many[HeldHead] = ()


def end_of(head: AuditHead) -> ChainEnd:
    return ChainEnd(head.number, head.hash)


def check_receipt(released: ReleasedKey, head: AuditHead) -> None:
    """The head must be that of a log whose last entry is this release."""
    entry = released.entry
    verify_chain([entry], ChainEnd(entry.number - 1, entry.previous))
    what = entry.event, entry.details.get("release_sha256")
    if what != ("key-released", sha256_of(released.release.encode())):
        raise _unrecorded()
    if end_of(head) != ChainEnd(entry.number, entry.hash):
        raise _unrecorded()


def check_witness(
    witness: Witness, entries: tuple[AuditEntry, ...], register: Register, whose: str
) -> None:
    """The log must hold every head that the witness was told of, by this log's key server."""
    for held in (witness.newest, *witness.contradicting):
        end = held.verified()
        if fingerprint(held.signing_key) not in register.identities:
            raise UntrustedError(
                f"{whose} is of another key server", "give witnesses of this log's key server"
            )
        if end.number > len(entries):
            raise UntrustedError(
                f"the audit log ends with entry {len(entries)}, and {witness.client} was told of "
                f"entry {end.number} ({whose})",
                "entries were removed, or the log or this copy of it is an older one",
            )
        if entries[end.number - 1].hash != end.hash:
            raise UntrustedError(
                f"entry {end.number} of the audit log is not the one that {witness.client} was "
                f"told of ({whose})",
                "the log was rewritten, or set back and continued: compare it with earlier copies",
            )


def _unrecorded() -> UntrustedError:
    return UntrustedError(
        "the key server's log does not end with the release that it sent",
        "do not take part; tell the key operator",
    )
