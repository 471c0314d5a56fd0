"""`fedperm deployment prepare`."""

import json
from dataclasses import asdict, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fedperm.clock import SystemClock
from fedperm.services import SERVICES
from fedperm_cli.deployment.databases import DatabaseKind
from fedperm_cli.deployment.preparation import Wishes
from fedperm_cli.deployment.preparation import prepare as prepare_folder
from fedperm_cli.deployment.server_names import names_of
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, show


def _names_option(server: str) -> Any:
    return typer.Option(
        metavar="NAME",
        envvar=f"FEDPERM_INIT_{server.upper()}_NAMES",
        default_factory=list,
        show_default=False,
        help=f"Besides {server}, localhost, 127.0.0.1 and ::1; once for each name or address.",
    )


NameOptions: Any = make_dataclass(
    "NameOptions",
    [(f"{name}_name", Annotated[list[str], _names_option(name)]) for name in SERVICES],
)
"""One option for each service."""


@with_option_groups
def prepare(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", file_okay=False, show_default=False)],
    *,
    more_names: NameOptions,
    database: Annotated[
        DatabaseKind,
        typer.Option(envvar="FEDPERM_INIT_DATABASE", help="Where the servers keep their rows."),
    ] = DatabaseKind.SQLITE,
    output: Output,
) -> None:
    """Make a private CA, certificates and credentials, a folder for each who needs them.

    Again: every secret is kept; certificates are renewed that end within 30 days or lack a name.
    Only `client` may be handed to clients; `authority` is needed for renewals alone.
    """
    as_json = output.is_json()
    names = {name: names_of(name, getattr(more_names, f"{name}_name")) for name in SERVICES}
    files = prepare_folder(folder, Wishes(names, database), SystemClock())
    if as_json:
        report = {"folder": str(folder), "files": [asdict(file) for file in files]}
        print_json(json.dumps(report))
    else:
        show(*(f"{file.state:8} {file.file}" for file in files))
