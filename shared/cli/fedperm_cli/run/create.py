"""`fedperm run create`: from options, or a finished document, to a run.

What plans and prints a run is imported when it is needed: scipy and torch take seconds, which
every other command would pay as well.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedperm.ids import RunName
from fedperm.wire.aggregator import RunStatus
from fedperm_cli.errors import OptionsError
from fedperm_cli.given_options import options_given
from fedperm_cli.names import RunArgument
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.run.options import RunOptions
from fedperm_cli.servers.options import AsAnybody, AsRunOperator, AsRunOperatorIfNeeded

if TYPE_CHECKING:
    from fedperm_cli.run.preparation import PreparedRun

_FINISHED = "A finished document instead"
_BESIDE_A_DOCUMENT = {
    *("run", "--document", "--initial-model", "--dry-run", "--output", "--format", "--json"),
    *("--keyserver", "--aggregator", "--run-operator-token-file", "--run-operator-key-file"),
    "--ca-file",
}
DocumentFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_FINISHED,
        help="As --output wrote it, or written by hand.",
    ),
]
InitialModelFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", rich_help_panel=_FINISHED, help="Whose hash the document holds."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Send nothing; without --output, print the document alone."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE",
        dir_okay=False,
        help="Keep the document there, and the initial model beside it (.safetensors).",
    ),
]


@with_option_groups
def create(
    context: typer.Context,
    run: RunArgument,
    *,
    options: RunOptions,
    document: DocumentFile = None,
    initial_model: InitialModelFile = None,
    dry_run: DryRun = False,
    file: OutputFile = None,
    key_server: AsAnybody,
    access: AsRunOperatorIfNeeded,
    key_file: OperatorKeyFile,
    output: Output,
) -> None:
    """Make a run: plan its document, sign it, and send it with the initial model and key epochs.

    The same command again changes nothing. Of the key server it reads only what anybody may. The
    run operator's key file is made at first use.
    """
    as_json = output.is_json()
    operator = None if dry_run else access.needed_for("sending a run")
    if document is None and initial_model is None:
        prepared = asyncio.run(_prepare(RunName(run), options, key_server, key_file))
    else:
        files = _finished(context, document, initial_model)
        prepared = _read(RunName(run), *files, key_file.identity())
    if file is not None:
        prepared.write(file)
    if operator is None:
        _print_unsent(prepared, file, as_json=as_json)
    else:
        status = asyncio.run(_send(prepared, key_server, operator))
        _print_sent(prepared, status, as_json=as_json)


async def _prepare(
    run: RunName, options: RunOptions, key_server: AsAnybody, key_file: OperatorKeyFile
) -> "PreparedRun":
    from fedperm_cli.run.preparation import prepare  # noqa: PLC0415 (see above)
    from fedperm_cli.run.specs import check  # noqa: PLC0415

    check(options)  # before a key file is made
    async with key_server.session() as keys:
        return await prepare(run, options, keys, key_file.identity())


def _finished(
    context: typer.Context, document: Path | None, initial_model: Path | None
) -> tuple[Path, Path]:
    if document is None or initial_model is None:
        raise OptionsError(
            "a document needs its initial model, and a model its document",
            "give --document and --initial-model together",
        )
    ignored = [option for option in options_given(context) if option not in _BESIDE_A_DOCUMENT]
    if ignored:
        raise OptionsError(
            f"a finished document would ignore {', '.join(ignored)}",
            "leave them out, or leave out --document",
        )
    return document, initial_model


def _read(
    run: RunName, document: Path, initial_model: Path, identity: OperatorIdentity
) -> "PreparedRun":
    from fedperm_cli.run.preparation import read_prepared  # noqa: PLC0415 (see above)

    return read_prepared(run, document, initial_model, identity)


async def _send(prepared: "PreparedRun", key_server: AsAnybody, access: AsRunOperator) -> RunStatus:
    from fedperm_cli.run.creation import create_run  # noqa: PLC0415 (see above)

    async with key_server.session() as keys, access.session() as operator:
        return await create_run(prepared, keys, operator)


def _print_sent(prepared: "PreparedRun", status: RunStatus, *, as_json: bool) -> None:
    from fedperm_cli.run.created_pages import (  # noqa: PLC0415 (see above)
        created_document,
        print_created,
    )

    if as_json:
        print_json(created_document(prepared.planned, status))
    else:
        print_created(prepared.planned, status)


def _print_unsent(prepared: "PreparedRun", file: Path | None, *, as_json: bool) -> None:
    """Without a file stdout is the document, octet by octet."""
    from fedperm_cli.run.created_pages import (  # noqa: PLC0415 (see above)
        created_document,
        print_planned,
    )

    if file is None:
        typer.echo(prepared.document.octets, nl=False)  # noqa: TID251 (our own, and hashed)
    elif as_json:
        print_json(created_document(prepared.planned, None))
    else:
        print_planned(prepared.planned, file)
