"""The option that names the run operator's key file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fedperm.randomness import from_operating_system
from fedperm_cli.operator.identity import OperatorIdentity

_NAME = "run-operator-key.json"
DEFAULT_PLACE = f"{_NAME} in the user's folder of settings, such as ~/.config/fedperm"


@dataclass(frozen=True)
class OperatorKeyFile:
    run_operator_key_file: Annotated[
        Path | None,
        typer.Option(
            "--run-operator-key-file",
            metavar="FILE",
            envvar="FEDPERM_RUN_OPERATOR_KEY_FILE",
            rich_help_panel="Servers",
            dir_okay=False,
            show_default=DEFAULT_PLACE,
            help="Holds the run operator's own keys, which no server has.",
        ),
    ] = None

    @property
    def path(self) -> Path:
        """By default one for all of this user's runs: clients pin it once."""
        if self.run_operator_key_file is not None:
            return self.run_operator_key_file
        return Path(typer.get_app_dir("fedperm")) / _NAME

    def found(self) -> OperatorIdentity | None:
        """For commands that do without: None if the usual place is empty."""
        if self.run_operator_key_file is None and not self.path.exists():
            return None
        return OperatorIdentity.found_at(self.path)

    def identity(self) -> OperatorIdentity:
        """Made at first use."""
        return OperatorIdentity.kept_at(self.path, from_operating_system())
