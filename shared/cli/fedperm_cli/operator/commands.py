"""`fedperm operator`: the run operator's keys."""

import json

import typer

from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import facts, print_json
from fedperm_cli.pages import show as show_lines

operator_commands = typer.Typer(
    no_args_is_help=True, help="The run operator's own keys, which clients pin (run operator)."
)


@operator_commands.command(epilog=EPILOG)
@with_option_groups
def show(*, key_file: OperatorKeyFile, output: Output) -> None:
    """Show who the run operator is: the fingerprint that clients pin, and the public keys.

    Makes the key file if there is none. Keep a backup: without it no report of its runs opens.
    """
    as_json = output.is_json()
    keys = key_file.identity().keys
    told = {"file": str(key_file.path), "fingerprint": keys.fingerprint, **keys.model_dump()}
    if as_json:
        print_json(json.dumps(told))
    else:
        show_lines(facts(*((name.replace("_", " "), value) for name, value in told.items())))
