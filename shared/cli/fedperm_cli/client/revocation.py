"""A client is thrown out: of the key, and of the runs that use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from fedperm.errors import RefusedError
from fedperm.ids import ClientName, EpochNumber, KeyName, RunName
from fedperm_cli.keys.rotation import bring_to_runs, read_record
from fedperm_cli.run.key_epochs import Rekeyed
from fedperm_cli.servers.sessions import KeyOperator, RunOperator


@dataclass(frozen=True)
class Revoked:
    """What was done; its fields are the command's JSON. `excluded` names the runs that the
    client had joined."""

    key: KeyName
    client: ClientName
    epoch: EpochNumber
    key_id: str
    runs: tuple[Rekeyed, ...]
    excluded: tuple[str, ...]


async def revoke_at_key_server(operator: KeyOperator, key: KeyName, client: ClientName) -> Revoked:
    """It knows the shared key, so there is a new epoch from here on."""
    revocation = await operator.api.revoke_client(key, client, operator.token)
    record = await read_record(operator, revocation.epoch.record)
    return Revoked(key, client, record.epoch, record.key_id, (), ())


async def revoke_everywhere(
    operator: KeyOperator,
    run_operator: RunOperator,
    key: KeyName,
    client: ClientName,
    runs: Sequence[RunName],
) -> Revoked:
    done = await revoke_at_key_server(operator, key, client)
    rekeyed = await bring_to_runs(operator, run_operator, runs)
    excluded = [run for run in runs if await _exclude(run_operator, run, client)]
    return Revoked(key, client, done.epoch, done.key_id, rekeyed, tuple(excluded))


async def _exclude(operator: RunOperator, run: RunName, client: ClientName) -> bool:
    """Whether the client had joined the run."""
    try:
        await operator.api.exclude(run, client, operator.token)
    except RefusedError as refusal:
        if refusal.kind != "unknown-resource":
            raise
        return False
    return True
