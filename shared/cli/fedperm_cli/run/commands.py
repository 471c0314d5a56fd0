"""`fedperm run`: its commands under one name."""

import typer

from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.run.control import exclude, rekey, resume, stop
from fedperm_cli.run.create import create
from fedperm_cli.run.reading import ls, show
from fedperm_cli.run.watch import watch

run_commands = typer.Typer(
    no_args_is_help=True, help="Make, watch, stop and resume runs (run operator)."
)
for command in (create, ls, show, watch, stop, resume, rekey, exclude):
    run_commands.command(epilog=EPILOG)(command)
