"""`fedperm audit verify`: a verdict on the log, of the server or of a copy that somebody kept."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedperm_cli.audit.evidence import Evidence
from fedperm_cli.audit.log import VerifiedLog, read_copy
from fedperm_cli.audit.standing import read_and_compare
from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, show
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
    evidence: Evidence,
    access: AsKeyOperatorIfNeeded,
    output: Output,
) -> None:
    """Say whether the key server's log holds; exit code 1 if it does not.

    Its entries must be one chain and make sense: no key was released to a client that was not
    enrolled. A server's tokens and clients must be those of its log. `fedperm keys audit` does
    the same and prints the entries.
    """
    as_json = output.is_json()
    log = asyncio.run(_read(access)) if file is None else read_copy(file)
    evidence.check(log)
    if as_json:
        witnesses = len(evidence.witness)
        print_json(json.dumps({"unbroken": True, "end": asdict(log.end), "witnesses": witnesses}))
    else:
        show(f"unbroken: {log.end.number:,} entries, the last one with hash {log.end.hash}")
        if evidence.witness:
            show(f"it holds what {len(evidence.witness)} witnesses were told")


async def _read(access: AsKeyOperatorIfNeeded) -> VerifiedLog:
    async with access.needed_for("verifying a server's log").session() as operator:
        return await read_and_compare(operator)
