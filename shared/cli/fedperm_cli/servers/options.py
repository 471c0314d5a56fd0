"""Options that say where a server is and who asks; a command takes only those it needs.

The key operator and the run operator are two people, or two files: whoever holds the key
operator's token can enrol and obtain the secret key, so no other command reads it.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fedperm.api.connection import Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.services import AGGREGATOR, KEY_SERVER, ServiceSpec
from fedperm_cli.errors import OptionsError
from fedperm_cli.servers.sessions import (
    PATIENCE,
    KeyOperator,
    RunOperator,
    Server,
    key_operator,
    key_server,
    run_operator,
)


def _option(name: str, words: str, metavar: str) -> Any:
    """`--some-name`, and the variable FEDPERM_SOME_NAME."""
    return typer.Option(
        f"--{name}",
        metavar=metavar,
        envvar=f"FEDPERM_{name.replace('-', '_').upper()}",
        rich_help_panel="Servers",
        show_default=False,
        help=words,
    )


def _server_option(service: ServiceSpec) -> Any:
    return _option(service.name, f"The {service.title}.", "URL")


def _operator_option(service: ServiceSpec) -> Any:
    words = f"Holds the {service.operator} operator's token."
    return _option(f"{service.operator_token}-file", words, "FILE")


KEY_SERVER_OPTION = _server_option(KEY_SERVER)
AGGREGATOR_OPTION = _server_option(AGGREGATOR)
_KEY_OPERATOR = _operator_option(KEY_SERVER)
RUN_OPERATOR_OPTION = _operator_option(AGGREGATOR)
CaFile = Annotated[Path | None, _option("ca-file", "Trust certificates of this CA only.", "FILE")]


@dataclass(frozen=True)
class AsAnybody:
    """What the key server tells everybody."""

    keyserver: Annotated[str, KEY_SERVER_OPTION]
    ca_file: CaFile = None

    def session(self) -> AbstractAsyncContextManager[KeyServerApi]:
        return key_server(Server(self.keyserver, self.ca_file))


@dataclass(frozen=True)
class AsKeyOperator:
    keyserver: Annotated[str, KEY_SERVER_OPTION]
    key_operator_token_file: Annotated[Path, _KEY_OPERATOR]
    ca_file: CaFile = None

    def session(self, patience: Patience = PATIENCE) -> AbstractAsyncContextManager[KeyOperator]:
        server = Server(self.keyserver, self.ca_file, patience)
        return key_operator(server, self.key_operator_token_file)


@dataclass(frozen=True)
class AsKeyOperatorIfNeeded:
    """For commands that ask the key server only sometimes."""

    keyserver: Annotated[str | None, KEY_SERVER_OPTION] = None
    key_operator_token_file: Annotated[Path | None, _KEY_OPERATOR] = None
    ca_file: CaFile = None

    def needed_for(self, what: str) -> AsKeyOperator:
        if self.keyserver is None or self.key_operator_token_file is None:
            raise OptionsError(
                f"{what} needs the key server and the key operator's token",
                "also give --keyserver and --key-operator-token-file",
            )
        return AsKeyOperator(self.keyserver, self.key_operator_token_file, self.ca_file)


@dataclass(frozen=True)
class AsRunOperator:
    aggregator: Annotated[str, AGGREGATOR_OPTION]
    run_operator_token_file: Annotated[Path, RUN_OPERATOR_OPTION]
    ca_file: CaFile = None

    def session(self, patience: Patience = PATIENCE) -> AbstractAsyncContextManager[RunOperator]:
        server = Server(self.aggregator, self.ca_file, patience)
        return run_operator(server, self.run_operator_token_file)


@dataclass(frozen=True)
class AsRunOperatorIfNeeded:
    """For commands that deal with a run only sometimes."""

    aggregator: Annotated[str | None, AGGREGATOR_OPTION] = None
    run_operator_token_file: Annotated[Path | None, RUN_OPERATOR_OPTION] = None
    ca_file: CaFile = None

    def needed_for(self, what: str) -> AsRunOperator:
        """`what` is the option or act that cannot do without."""
        if self.aggregator is None or self.run_operator_token_file is None:
            raise OptionsError(
                f"{what} needs the aggregator and the run operator's token",
                "also give --aggregator and --run-operator-token-file",
            )
        return AsRunOperator(self.aggregator, self.run_operator_token_file, self.ca_file)
