"""`fedperm run ls` and `show`."""

import asyncio

from fedperm.ids import RunName
from fedperm.wire.aggregator import RunList
from fedperm_cli.names import RunArgument
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.run.overview import Overview, read_overview
from fedperm_cli.run.pages import print_overview, print_runs
from fedperm_cli.servers.options import AsRunOperator


@with_option_groups
def ls(*, access: AsRunOperator, output: Output) -> None:
    """List the runs."""
    as_json = output.is_json()
    found = asyncio.run(_list(access))
    if as_json:
        print_json(found.model_dump_json())
    else:
        print_runs(found)


@with_option_groups
def show(
    run: RunArgument, *, access: AsRunOperator, key_file: OperatorKeyFile, output: Output
) -> None:
    """Show a run: its state, its clients, and what each round took and gave.

    What clients measured is sealed to the run operator, and shown if the key file is there.
    """
    as_json = output.is_json()
    overview = asyncio.run(_show(access, RunName(run), key_file.found()))
    if as_json:
        print_json(overview.model_dump_json())
    else:
        print_overview(overview)


async def _list(access: AsRunOperator) -> RunList:
    async with access.session() as operator:
        return await operator.api.runs(operator.token)


async def _show(access: AsRunOperator, run: RunName, identity: OperatorIdentity | None) -> Overview:
    async with access.session() as operator:
        return await read_overview(operator, run, identity)
