"""The options of `fedperm preflight`: whom to ask, and about what."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fedperm.ids import KeyName, RunName
from fedperm.services import CLIENT
from fedperm_cli.errors import OptionsError
from fedperm_cli.names import checked_name
from fedperm_cli.servers.options import (
    AGGREGATOR_OPTION,
    KEY_SERVER_OPTION,
    RUN_OPERATOR_OPTION,
    CaFile,
)
from fedperm_cli.servers.sessions import Server


@dataclass(frozen=True, kw_only=True)
class PreflightOptions:
    run: Annotated[
        RunName | None,
        typer.Option(
            metavar="RUN",
            parser=checked_name,
            show_default=False,
            help="Check what this run needs; as its operator.",
        ),
    ] = None
    key: Annotated[
        KeyName | None,
        typer.Option(
            metavar="KEY", parser=checked_name, show_default="the run's", help="Check this key."
        ),
    ] = None
    state_directory: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            envvar=f"{CLIENT.env_prefix}STATE_DIRECTORY",
            help="Where a client will keep its state.",
        ),
    ] = Path()
    keyserver: Annotated[str | None, KEY_SERVER_OPTION] = None
    aggregator: Annotated[str | None, AGGREGATOR_OPTION] = None
    run_operator_token_file: Annotated[Path | None, RUN_OPERATOR_OPTION] = None
    ca_file: CaFile = None

    def check(self) -> None:
        if self.keyserver is None and self.aggregator is None:
            raise OptionsError("there is no server to ask", "give --keyserver or --aggregator")

    @property
    def key_server(self) -> Server | None:
        return None if self.keyserver is None else Server(self.keyserver, self.ca_file)

    @property
    def aggregator_server(self) -> Server | None:
        return None if self.aggregator is None else Server(self.aggregator, self.ca_file)
