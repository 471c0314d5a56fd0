"""`fedperm run watch`: a run, live."""

import asyncio

import typer

from fedperm.ids import RunName
from fedperm.wire.aggregator import RunState, RunStatus
from fedperm_cli.exit_codes import ExitCode
from fedperm_cli.names import RunArgument
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, stdout
from fedperm_cli.run.pages import ended_early, print_status
from fedperm_cli.run.views import JsonLines, live_view
from fedperm_cli.run.watching import View, Watch
from fedperm_cli.servers.options import AsRunOperator


@with_option_groups
def watch(
    run: RunArgument, *, access: AsRunOperator, key_file: OperatorKeyFile, output: Output
) -> None:
    """Follow a run from its first round until it is over; exit code 1 if it failed or ended early.

    One line a finished round, bars for the one under way. With --json one object a line:
    finished rounds, and the run's status at the end. What clients measured is sealed to the run
    operator, and told if the key file is there.
    """
    as_json = output.is_json()
    identity = key_file.found()
    if as_json:
        status = asyncio.run(_watch(access, RunName(run), JsonLines(), identity))
        print_json(f'{{"status": {status.model_dump_json()}}}')
    else:
        with live_view(stdout()) as view:
            status = asyncio.run(_watch(access, RunName(run), view, identity))
        print_status(status)
    if status.state is RunState.FAILED or ended_early(status):
        raise typer.Exit(ExitCode.FAILED)


async def _watch(
    access: AsRunOperator, run: RunName, view: View, identity: OperatorIdentity | None
) -> RunStatus:
    async with access.session() as operator:
        return await Watch(operator, run, view, identity).until_over()
