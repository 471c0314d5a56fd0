"""Whether a submission may be stored: a pure judgement of what is known about its place."""

from fedperm.errors import (
    BodyError,
    BodyTooLargeError,
    ConflictError,
    ForbiddenError,
    GoneError,
    UnknownResourceError,
    UntrustedError,
)
from fedperm.protocol import FIRST_PROTOCOL, PROTOCOL
from fedperm.wire.statements import Manifest
from fedperm_aggregator.records import Claim, Slot, StoredSubmission


def judge(slot: Slot, claim: Claim) -> StoredSubmission | None:
    """The submission, if these bytes were stored before; None if they may be; else a refusal.

    The same bytes are welcome even when the round is over: the client's answer was lost."""
    if slot.state is None:
        raise UnknownResourceError("the round was not opened yet", "ask for the next task")
    _check_sender(slot, claim)
    if claim.epoch != slot.epoch:
        raise ConflictError(
            f"the {claim.kind} is for key epoch {claim.epoch}, the round uses {slot.epoch}",
            f"prepare the {claim.kind} under the key of the round's epoch",
        )
    if slot.stored is not None:
        _check_same(slot.stored, claim)
    elif slot.collects != claim.kind:
        raise GoneError(f"the round is {slot.state}", "wait for the next task")
    return slot.stored


def _check_sender(slot: Slot, claim: Claim) -> None:
    if not slot.is_asked:
        raise ForbiddenError(
            "the client was not selected for this round", "upload only when a task says so"
        )
    if slot.signing_key != claim.signing_key:
        raise ForbiddenError(
            "the client joined with another signing key", "use the identity that joined the run"
        )


def _check_same(stored: StoredSubmission, claim: Claim) -> None:
    if stored.sha256 != claim.sha256:
        raise ConflictError(
            f"another {claim.kind} of this client was stored for the round",
            "send the bytes that were prepared first: a second draw of noise costs privacy",
        )


def check_version(manifest: Manifest) -> None:
    """A client that joined before the aggregator was upgraded, and was not."""
    if not manifest.tensors:
        raise ConflictError(
            f"the manifest is of {FIRST_PROTOCOL}, this aggregator speaks {PROTOCOL}",
            "upgrade the client and start it again: it sends what it has prepared",
        )


def check_manifest(manifest: Manifest, expected: Manifest) -> None:
    differing = [
        name
        for name in sorted(Manifest.model_fields)
        if getattr(manifest, name) != getattr(expected, name)
    ]
    if differing:
        raise UntrustedError(
            f"the manifest is for another upload: {', '.join(differing)}",
            "sign a manifest of exactly this upload",
        )


def check_digest(sha256: str, expected: str, origin: str) -> None:
    """`origin` says where the expected digest was stated."""
    if sha256 != expected:
        raise BodyError(f"the SHA-256 of the body is not {origin}", "send it again, unchanged")


def check_size(stated: int, expected: int) -> None:
    """The run's parameters fix the length of a body to the octet."""
    hint = "send exactly the tensors that the protocol names"
    if stated > expected:
        raise BodyTooLargeError(f"{stated:,} octets are announced, {expected:,} are right", hint)
    if stated < expected:
        raise BodyError(f"{stated:,} octets are announced, {expected:,} are right", hint)
