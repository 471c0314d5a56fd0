"""`fedperm run watch`: a run, live."""

import asyncio

import typer

from fedperm.ids import RunName
from fedperm.wire.aggregator import RunState, RunStatus
from fedperm_cli.exit_codes import ExitCode
from fedperm_cli.names import RunArgument
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import stdout
from fedperm_cli.run.pages import print_status
from fedperm_cli.run.views import JsonLines, live_view
from fedperm_cli.run.watching import View, Watch
from fedperm_cli.servers.options import AsRunOperator


@with_option_groups
def watch(run: RunArgument, *, access: AsRunOperator, output: Output) -> None:
    """Follow a run from its first round until it is over; exit code 1 if it failed.

    One line a finished round, bars for the one under way. With --json one object a line:
    finished rounds, and the run's status at the end.
    """
    if output.is_json():
        status = asyncio.run(_watch(access, RunName(run), JsonLines()))
        typer.echo(f'{{"status": {status.model_dump_json()}}}')
    else:
        with live_view(stdout()) as view:
            status = asyncio.run(_watch(access, RunName(run), view))
        print_status(status)
    if status.state is RunState.FAILED:
        raise typer.Exit(ExitCode.FAILED)


async def _watch(access: AsRunOperator, run: RunName, view: View) -> RunStatus:
    async with access.session() as operator:
        return await Watch(operator, run, view).until_over()
