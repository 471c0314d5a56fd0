"""Whether key server and aggregator, who never speak to each other, have the same key."""

from fedperm.api.key_server import KeyServerApi
from fedperm.errors import UntrustedError
from fedperm.ids import KeyName
from fedperm.run_document import RunDocument
from fedperm.wire.public_keys import fingerprint, signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from fedperm.wire.succession import followed
from fedperm_cli.servers.sessions import RunOperator

SHOWN = 16
"""Digits of a fingerprint."""


async def record_of(keys: KeyServerApi, key: KeyName, *, insecure_for_tests: bool) -> EpochRecord:
    """The newest epoch's, signed by the key server itself and about the key that it names."""
    status, identity = await keys.key(key), await keys.identity()
    signed = (await keys.epoch(key, status.latest_epoch, identity.fingerprint)).record
    record = verify(signed, EpochRecord, signing_key(identity.signing_key))
    record.public_key(insecure_for_tests=insecure_for_tests)
    if record.key_id != status.key_id:
        raise UntrustedError(
            f"the key server lists {status.key_id[:SHOWN]} as the newest epoch of {key}, and "
            f"signs {record.key_id[:SHOWN]}",
            "ask the key operator; take part in nothing until it is clear",
        )
    return record


async def check_signer(keys: KeyServerApi, document: RunDocument) -> None:
    """A run names the one key server that its clients believe, as it was or is."""
    try:
        followed(fingerprint(document.key.signing_key), await keys.identity())
    except UntrustedError:
        raise UntrustedError(
            f"the run {document.run} was made for another key server",
            "correct --keyserver, or make the run anew with this one",
        ) from None


async def check_run_has(operator: RunOperator, document: RunDocument, newest: EpochRecord) -> int:
    """The epoch that the run uses, if it is the key server's newest."""
    stored = (await operator.api.key_epochs(document.run, operator.token)).epochs
    verifier = signing_key(document.key.signing_key)
    records = [verify(epoch.record, EpochRecord, verifier) for epoch in stored]
    if not records:
        raise UntrustedError(
            f"the run {document.run} has no key yet", f"fedperm run rekey {document.run}"
        )
    used = max(records, key=lambda record: record.epoch)
    if used.key_id != newest.key_id:
        raise UntrustedError(
            f"the run {document.run} uses epoch {used.epoch} ({used.key_id[:SHOWN]}), the key "
            f"server's newest is {newest.epoch} ({newest.key_id[:SHOWN]})",
            f"fedperm run rekey {document.run}",
        )
    return used.epoch
