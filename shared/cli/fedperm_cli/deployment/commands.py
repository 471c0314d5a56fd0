"""`fedperm deployment`: its commands under one name."""

import typer

from fedperm_cli.deployment.options import VARIABLES
from fedperm_cli.deployment.prepare import prepare
from fedperm_cli.deployment.run import run
from fedperm_cli.deployment.token import token
from fedperm_cli.exit_codes import EPILOG

deployment_commands = typer.Typer(
    no_args_is_help=True, help="What the one-shot containers do: prepare a federation, operate it."
)
deployment_commands.command(epilog=EPILOG)(prepare)
for command in (run, token):
    deployment_commands.command(epilog=EPILOG, context_settings={"auto_envvar_prefix": VARIABLES})(
        command
    )
