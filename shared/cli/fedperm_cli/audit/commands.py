"""`fedperm audit verify`: a verdict on the log, of the server or of a copy that somebody kept."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.keys.audit import VerifiedLog, read_copy, read_log
from fedperm_cli.keys.kept_end import KeptEnd
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import show
from fedperm_cli.servers.options import AsKeyOperatorIfNeeded

audit_commands = typer.Typer(
    no_args_is_help=True, help="Verify the key server's audit log (key operator, auditor)."
)


@audit_commands.callback()
def _group() -> None:
    """With a callback, typer keeps the name of an only command."""


@audit_commands.command(epilog=EPILOG)
@with_option_groups
def verify(
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="A copy, as `fedperm keys audit --json` prints it: needs no server.",
        ),
    ] = None,
    kept: KeptEnd = None,
    access: AsKeyOperatorIfNeeded,
    output: Output,
) -> None:
    """Say whether the chain of the key server's log is unbroken; exit code 1 if it is not.

    `fedperm keys audit` also prints the entries.
    """
    as_json = output.is_json()
    log = asyncio.run(_read(access)) if file is None else read_copy(file)
    if kept is not None:
        log.check_holds(kept)
    if as_json:
        typer.echo(json.dumps({"unbroken": True, "end": asdict(log.end)}))
    else:
        show(f"unbroken: {log.end.number:,} entries, the last one with hash {log.end.hash}")


async def _read(access: AsKeyOperatorIfNeeded) -> VerifiedLog:
    async with access.needed_for("verifying a server's log").session() as operator:
        return await read_log(operator)
