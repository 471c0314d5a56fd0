"""Key epochs from the key server beside a run: the two servers do not know each other."""

from dataclasses import dataclass

from fedperm.api.key_server import KeyServerApi
from fedperm.errors import RefusedError, UntrustedError
from fedperm.ids import NO_EPOCH, EpochNumber, RunName
from fedperm.run_document import KeySpec
from fedperm.wire.aggregator import KeyEpoch
from fedperm.wire.public_keys import fingerprint, signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from fedperm_cli.servers.sessions import RunOperator


@dataclass(frozen=True)
class Rekeyed:
    """A run's newest key epoch, and which epochs it got just now."""

    run: RunName
    epoch: EpochNumber
    brought: tuple[EpochNumber, ...]


async def bring_key_epochs(keys: KeyServerApi, operator: RunOperator, run: RunName) -> Rekeyed:
    """All epochs that the run does not have yet, in order; again: none."""
    key = (await operator.api.document(run, operator.token)).content.key
    known = await _newest_known(operator, run, key)
    latest = (await keys.key(key.key)).latest_epoch
    wanted = tuple(map(EpochNumber, range(known + 1, latest + 1)))
    for epoch in wanted:
        record = await _record(keys, key, epoch)
        await operator.api.put_key_epoch(run, epoch, KeyEpoch(record=record), operator.token)
    return Rekeyed(run, max(known, latest), wanted)


async def _newest_known(operator: RunOperator, run: RunName, key: KeySpec) -> EpochNumber:
    stored = await operator.api.key_epochs(run, operator.token)
    return max((_check(epoch.record, key).epoch for epoch in stored.epochs), default=NO_EPOCH)


async def _record(keys: KeyServerApi, key: KeySpec, epoch: EpochNumber) -> str:
    """As the identity signs it that the run's document names; another server has none of it."""
    try:
        record = (await keys.epoch(key.key, epoch, fingerprint(key.signing_key))).record
    except RefusedError as refusal:
        if refusal.status != 404:
            raise
        raise _foreign(key) from None
    _check(record, key)
    return record


def _check(record: str, key: KeySpec) -> EpochRecord:
    try:
        return verify(record, EpochRecord, signing_key(key.signing_key))
    except UntrustedError:
        raise _foreign(key) from None


def _foreign(key: KeySpec) -> UntrustedError:
    return UntrustedError(
        f"an epoch of key {key.key} is not signed by the key server of the run's document",
        "use the key server for which the run was made",
    )
