"""The next epoch of a key, brought to the runs that use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from fedperm.ids import EpochNumber, KeyName, RunName
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from fedperm_cli.run.key_epochs import Rekeyed, bring_key_epochs
from fedperm_cli.servers.sessions import KeyOperator, RunOperator


@dataclass(frozen=True)
class Rotation:
    """What was done; its fields are the command's JSON."""

    key: KeyName
    epoch: EpochNumber
    key_id: str
    runs: tuple[Rekeyed, ...]


async def make_next_epoch(operator: KeyOperator, key: KeyName) -> Rotation:
    """At the key server only: clients use it once it lies beside their run."""
    latest = (await operator.api.key(key)).latest_epoch
    signed = await operator.api.create_epoch(key, EpochNumber(latest + 1), operator.token)
    record = await read_record(operator, signed.record)
    return Rotation(key, record.epoch, record.key_id, ())


async def bring_to_runs(
    operator: KeyOperator, run_operator: RunOperator, runs: Sequence[RunName]
) -> tuple[Rekeyed, ...]:
    return tuple([await bring_key_epochs(operator.api, run_operator, run) for run in runs])


async def read_record(operator: KeyOperator, record: str) -> EpochRecord:
    identity = await operator.api.identity()
    return verify(record, EpochRecord, signing_key(identity.signing_key))
