"""The files of a deployment: each is made once, whole or not at all, and kept ever after."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fedperm.durable_file import PRIVATE, creating, replacing, sweep_unfinished
from fedperm.state_folder import OTHERS_WRITING, make_own_folder
from fedperm_cli.errors import DeploymentError, DirectoryError

PUBLIC = 0o644


class State(StrEnum):
    MADE = "made"
    KEPT = "kept"
    RENEWED = "renewed"


@dataclass(frozen=True)
class PreparedFile:
    """By its name in the deployment's folder."""

    file: str
    state: State


class SecretFiles:
    """Files by their names below the folder; `prepared` says what became of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.prepared: list[PreparedFile] = []

    def read(self, file: str) -> bytes | None:
        """None if there is no such file. What somebody else put there is no secret of ours."""
        path = self._folder / file
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as opened:
                if os.fstat(opened.fileno()).st_uid != os.geteuid():
                    raise _unusable(path, "it belongs to another user")
                return opened.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(path, error.strerror) from None

    def write(self, file: str, data: bytes, state: State, mode: int = PRIVATE) -> None:
        """What is made was not there a moment ago; should it be now, somebody planted it."""
        path = self._folder / file
        written = creating if state is State.MADE else replacing
        try:
            make_own_folder(path.parent, closed_to=OTHERS_WRITING)
            sweep_unfinished(path.parent)
            with written(path, mode) as opened:
                opened.write(data)
        except OSError as error:
            raise _unusable(path, error.strerror) from None
        self.prepared.append(PreparedFile(file, state))

    def keep(self, *files: str) -> None:
        self.prepared += [PreparedFile(file, State.KEPT) for file in files]

    def secret(self, make: Callable[[], bytes], *files: str) -> bytes:
        """One secret in all these files: made if none of them is there, else kept and completed."""
        found = {data for file in files if (data := self.read(file)) is not None}
        if len(found) > 1:
            raise DeploymentError(
                f"{' and '.join(files)} hold different secrets",
                f"restore the one that belongs to the other in {self._folder}",
            )
        secret = found.pop() if found else make()
        for file in files:
            self.copy(secret, file)
        return secret

    def copy(self, data: bytes, file: str, mode: int = PRIVATE) -> None:
        """The same data as elsewhere; other data under this name are refused."""
        found = self.read(file)
        if found is None:
            self.write(file, data, State.MADE, mode)
        elif found == data:
            self.keep(file)
        else:
            raise DeploymentError(
                f"{file} is not of this deployment",
                f"restore it, or remove {self._folder / file} to get a new copy",
            )


def _unusable(path: Path, why: str | None) -> DirectoryError:
    return DirectoryError(
        f"cannot use {path}: {why}",
        "check whom the folder belongs to, or choose another",
    )
