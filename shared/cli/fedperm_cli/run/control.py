"""`fedperm run stop`, `resume`, `rekey` and `exclude`: what an operator does to a run."""

import asyncio
import json
from dataclasses import asdict

from fedperm.ids import ClientName, RunName
from fedperm.wire.aggregator import ParticipantStatus, RunStatus
from fedperm_cli.names import ClientArgument, RunArgument
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, show
from fedperm_cli.run.key_epochs import Rekeyed, bring_key_epochs
from fedperm_cli.run.pages import print_status
from fedperm_cli.servers.options import AsAnybody, AsRunOperator


@with_option_groups
def stop(run: RunArgument, *, access: AsRunOperator, output: Output) -> None:
    """Open no new round; the open one is finished."""
    as_json = output.is_json()
    _print(asyncio.run(_stop(access, RunName(run))), as_json=as_json)


@with_option_groups
def resume(run: RunArgument, *, access: AsRunOperator, output: Output) -> None:
    """Go on with a run that was stopped."""
    as_json = output.is_json()
    _print(asyncio.run(_resume(access, RunName(run))), as_json=as_json)


@with_option_groups
def rekey(
    run: RunArgument, *, key_server: AsAnybody, access: AsRunOperator, output: Output
) -> None:
    """Bring the key's new epochs from the key server to the run.

    It uses the newest from its next round on. Needs no key operator's token.
    """
    as_json = output.is_json()
    rekeyed = asyncio.run(_rekey(key_server, access, RunName(run)))
    if as_json:
        print_json(json.dumps(asdict(rekeyed)))
    else:
        new = ", ".join(map(str, rekeyed.brought)) or "none"
        show(f"run {run} has key epoch {rekeyed.epoch} (new: {new})")


@with_option_groups
def exclude(
    run: RunArgument, client: ClientArgument, *, access: AsRunOperator, output: Output
) -> None:
    """Let a client take no part from the next round on."""
    as_json = output.is_json()
    status = asyncio.run(_exclude(access, RunName(run), ClientName(client)))
    if as_json:
        print_json(status.model_dump_json())
    else:
        show(f"client {client} takes no part in run {run} from the next round on")


def _print(status: RunStatus, *, as_json: bool) -> None:
    if as_json:
        print_json(status.model_dump_json())
    else:
        print_status(status)


async def _stop(access: AsRunOperator, run: RunName) -> RunStatus:
    async with access.session() as operator:
        return await operator.api.stop(run, operator.token)


async def _resume(access: AsRunOperator, run: RunName) -> RunStatus:
    async with access.session() as operator:
        return await operator.api.resume(run, operator.token)


async def _rekey(key_server: AsAnybody, access: AsRunOperator, run: RunName) -> Rekeyed:
    async with key_server.session() as keys, access.session() as operator:
        return await bring_key_epochs(keys, operator, run)


async def _exclude(access: AsRunOperator, run: RunName, client: ClientName) -> ParticipantStatus:
    async with access.session() as operator:
        return await operator.api.exclude(run, client, operator.token)
