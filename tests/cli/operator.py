"""Runs commands in this process, against servers in processes of their own: quick, and the same
entrance that the installed command has."""

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fedperm_cli.__main__ import main
from fedperm_cli.operator.identity import OperatorIdentity


@dataclass(frozen=True)
class Finished:
    returncode: int
    stdout: str
    stderr: str


class Operator:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    @property
    def identity(self) -> OperatorIdentity:
        """The run operator's; it has a file that the environment names."""
        file = Path(self.environment["FEDPERM_RUN_OPERATOR_KEY_FILE"])
        return OperatorIdentity.kept_at(file, Random("the operator of these commands"))

    def __call__(self, *arguments: str) -> Finished:
        out, err = _file(), _file()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr("sys.argv", ["fedperm", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
        return Finished(int(end.value.code or 0), _content(out), _content(err))

    def succeeds(self, *arguments: str) -> str:
        """What it prints."""
        finished = self(*arguments)
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr == ""
        return finished.stdout

    def json(self, *arguments: str) -> dict[str, Any]:
        """The one object that it prints on one line."""
        printed = self.succeeds(*arguments, "--json")
        assert printed.count("\n") == 1
        result: dict[str, Any] = json.loads(printed)
        return result

    def without(self, *names: str) -> "Operator":
        """Somebody who lacks these settings."""
        kept = {name: value for name, value in self.environment.items() if name not in names}
        return Operator(kept)

    def instead(self, **settings: str) -> "Operator":
        return Operator({**self.environment, **settings})


def _file() -> io.TextIOWrapper:
    """As a pipe: text and octets alike."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8")


def _content(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read()
