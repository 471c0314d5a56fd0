"""All commands under one name."""

import os
from pathlib import Path
from typing import Annotated

import typer

import fedperm
from fedperm_cli.audit.commands import audit_commands
from fedperm_cli.bench.command import bench
from fedperm_cli.client.commands import client_commands
from fedperm_cli.config_file import options_in
from fedperm_cli.configured_group import ConfiguredGroup
from fedperm_cli.dashboard.command import dashboard
from fedperm_cli.demo.command import demo
from fedperm_cli.deployment.commands import deployment_commands
from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.keys.commands import keys
from fedperm_cli.model.commands import model_commands
from fedperm_cli.operator.commands import operator_commands
from fedperm_cli.pages import print_text
from fedperm_cli.plan.command import plan
from fedperm_cli.preflight.command import preflight
from fedperm_cli.privacy.command import privacy
from fedperm_cli.run.commands import run_commands
from fedperm_cli.task.commands import check_task, init_task
from fedperm_cli.variables import refuse_unknown_variables

application = typer.Typer(
    name="fedperm",
    cls=ConfiguredGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Federated learning whose aggregator sees shuffled, noised values and encrypted sums.

    Clients add noise to their updates, shuffle them, and send encrypted masks with which the
    aggregator undoes the shuffling without seeing it.""",
    epilog=EPILOG,
)
application.command(epilog=EPILOG)(demo)
application.add_typer(keys, name="keys")
application.add_typer(client_commands, name="client")
application.add_typer(run_commands, name="run")
application.command(epilog=EPILOG)(dashboard)
application.add_typer(operator_commands, name="operator")
application.add_typer(model_commands, name="model")
application.add_typer(audit_commands, name="audit")
application.add_typer(deployment_commands, name="deployment")
application.command(epilog=EPILOG)(init_task)
application.command(epilog=EPILOG)(check_task)
application.command(epilog=EPILOG)(plan)
application.command(epilog=EPILOG)(preflight)
application.command(epilog=EPILOG)(bench)
application.command(epilog=EPILOG)(privacy)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_text(f"fedperm {fedperm.__version__}")
        raise typer.Exit


@application.callback()
def _top_level(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            envvar="FEDPERM_CONFIG",
            show_default=False,
            help="Options in TOML, for what neither an option nor a variable says.",
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options that stand before any command."""
    refuse_unknown_variables(context.command, os.environ)
    if config is not None:
        context.default_map = options_in(config, context.command)
