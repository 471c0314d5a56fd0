"""`fedperm keys create`, `ls`, `rotate`, `destroy` and `audit`."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated

import typer

from fedperm.ids import EpochNumber, KeyName, RunName
from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm.wire.key_server import DestroyedEpoch, KeyList, KeyRequest, KeyStatus
from fedperm.wire.statements import SchemeSpec
from fedperm_cli.audit.evidence import Evidence
from fedperm_cli.audit.log import VerifiedLog
from fedperm_cli.audit.standing import read_and_compare
from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.keys.pages import (
    print_destroyed,
    print_key,
    print_keys,
    print_log,
    print_rotation,
)
from fedperm_cli.keys.rotation import Rotation, bring_to_runs, make_next_epoch
from fedperm_cli.names import EpochOption, KeyArgument, RunNames
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.servers.options import AsKeyOperator, AsRunOperatorIfNeeded

keys = typer.Typer(
    no_args_is_help=True, help="Make, list, rotate, destroy and audit keys (key operator)."
)


@keys.command(epilog=EPILOG)
@with_option_groups
def create(
    key: KeyArgument,
    *,
    key_bits: Annotated[int, typer.Option(help="Length of n.")] = DEFAULT_KEY_BITS,
    access: AsKeyOperator,
    output: Output,
) -> None:
    """Make a key with its first epoch. Again with the same parameters: nothing changes."""
    as_json = output.is_json()
    wanted = KeyRequest(scheme=SchemeSpec.of_bits(key_bits))
    status = asyncio.run(_create(access, KeyName(key), wanted))
    if as_json:
        print_json(status.model_dump_json())
    else:
        print_key(status)


@keys.command(epilog=EPILOG)
@with_option_groups
def ls(*, access: AsKeyOperator, output: Output) -> None:
    """List the keys and their newest epochs."""
    as_json = output.is_json()
    found = asyncio.run(_list(access))
    if as_json:
        print_json(found.model_dump_json())
    else:
        print_keys(found)


@keys.command(epilog=EPILOG)
@with_option_groups
def rotate(
    key: KeyArgument,
    *,
    run: RunNames,
    access: AsKeyOperator,
    run_access: AsRunOperatorIfNeeded,
    output: Output,
) -> None:
    """Make the key's next epoch and put it beside the runs that are named.

    A run uses it from its next round on. Every call makes another epoch.
    """
    as_json = output.is_json()
    rotation = asyncio.run(_rotate(access, run_access, KeyName(key), run))
    if as_json:
        print_json(json.dumps(asdict(rotation)))
    else:
        print_rotation(rotation)


@keys.command(epilog=EPILOG)
@with_option_groups
def destroy(
    key: KeyArgument,
    *,
    epoch: EpochOption,
    access: AsKeyOperator,
    output: Output,
) -> None:
    """Destroy the secret key of an old epoch at the key server. Nobody gets it again.

    Clients that have it keep it, and so do backups of the database.
    """
    as_json = output.is_json()
    gone = asyncio.run(_destroy(access, KeyName(key), EpochNumber(epoch)))
    if as_json:
        print_json(gone.model_dump_json())
    else:
        print_destroyed(gone)


@keys.command(epilog=EPILOG)
@with_option_groups
def audit(
    *,
    evidence: Evidence,
    access: AsKeyOperator,
    output: Output,
) -> None:
    """Print the key server's log of keys, tokens, clients and releases, if it holds.

    A changed, removed or added entry is an error, and a key that was released to a client that was
    not enrolled; entries missing at the end only with --kept or --witness.
    """
    as_json = output.is_json()
    log = asyncio.run(_audit(access))
    evidence.check(log)
    if as_json:
        print_json(log.to_json())
    else:
        print_log(log)


async def _create(access: AsKeyOperator, key: KeyName, wanted: KeyRequest) -> KeyStatus:
    async with access.session() as operator:
        return await operator.api.create_key(key, wanted, operator.token)


async def _list(access: AsKeyOperator) -> KeyList:
    async with access.session() as operator:
        return await operator.api.keys(operator.token)


async def _destroy(access: AsKeyOperator, key: KeyName, epoch: EpochNumber) -> DestroyedEpoch:
    async with access.session() as operator:
        return await operator.api.destroy_epoch(key, epoch, operator.token)


async def _audit(access: AsKeyOperator) -> VerifiedLog:
    async with access.session() as operator:
        return await read_and_compare(operator)


async def _rotate(
    access: AsKeyOperator, run_access: AsRunOperatorIfNeeded, key: KeyName, runs: Sequence[RunName]
) -> Rotation:
    if not runs:
        async with access.session() as operator:
            return await make_next_epoch(operator, key)
    needed = run_access.needed_for("--run")
    async with access.session() as operator, needed.session() as run_operator:
        rotation = await make_next_epoch(operator, key)
        return replace(rotation, runs=await bring_to_runs(operator, run_operator, runs))
