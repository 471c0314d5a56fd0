"""`fedperm demo`: options in, processes up, rounds, summary, processes down."""

import asyncio
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

from fedperm.services import programs
from fedperm_cli.demo.folder import demo_folder
from fedperm_cli.demo.options import DemoOptions, check_demo, run_options
from fedperm_cli.errors import MissingExtraError
from fedperm_cli.exit_codes import ExitCode
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.federation.interruption import all_ends_alike
from fedperm_cli.federation.processes import Processes
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, stderr, stdout
from fedperm_cli.progress_lines import Teller, tell_nothing, tell_on
from fedperm_cli.run.views import Silence, live_view
from fedperm_cli.run.watching import View

if TYPE_CHECKING:
    from fedperm_cli.demo.outcome import Outcome


@with_option_groups
def demo(*, options: DemoOptions, output: Output) -> None:
    """Run a whole federation here: key server, aggregator and clients as processes of their own.

    Real HTTP on free ports of this machine, real keys, real noise. It plays both operators, who
    are two people elsewhere. Ends with what was learned, what it cost in privacy, time and bytes,
    and a check that all clients hold the same model (exit code 1 if not). Stops all it started.
    """
    as_json = output.is_json()
    check_demo(options)
    _check_installed()
    folder = demo_folder(options.keep)
    try:
        with all_ends_alike():
            outcome = _quietly(options, folder) if as_json else _visibly(options, folder)
    except KeyboardInterrupt:
        stderr().print(f"stopped, with all it had started; the logs are in {folder.logs}")
        raise
    if not outcome.succeeded:
        raise typer.Exit(ExitCode.FAILED)


def _quietly(options: DemoOptions, folder: FederationFolder) -> "Outcome":
    outcome = asyncio.run(_run(options, folder, Silence(), tell_nothing, is_watched=False))
    print_json(outcome.to_json())
    return outcome


def _visibly(options: DemoOptions, folder: FederationFolder) -> "Outcome":
    from fedperm_cli.demo.pages import print_outcome  # noqa: PLC0415 (scipy takes a second)

    console = stdout()
    tell = tell_on(console)
    tell("folder", str(folder.path))
    tell("operators", "this demo plays both, key operator and run operator: elsewhere two people")
    with live_view(console) as view:
        outcome = asyncio.run(_run(options, folder, view, tell, is_watched=True))
    print_outcome(outcome)
    return outcome


async def _run(
    options: DemoOptions, folder: FederationFolder, view: View, tell: Teller, *, is_watched: bool
) -> "Outcome":
    from fedperm_cli.demo.federation import DemoFederation  # noqa: PLC0415 (scipy takes a second)
    from fedperm_cli.demo.outcome import outcome_of  # noqa: PLC0415

    with Processes(folder.logs) as processes:
        wanted = partial(run_options, options)
        federation = DemoFederation(
            options, folder, processes, tell, wanted, with_dashboard=is_watched
        )
        return outcome_of(await federation.run(view), folder)


def _check_installed() -> None:
    missing = [program.module for program in programs() if find_spec(program.module) is None]
    if missing:
        raise MissingExtraError(
            f"the demo starts services that are not installed: {', '.join(missing)}",
            "run it with make demo, which installs them",
        )
