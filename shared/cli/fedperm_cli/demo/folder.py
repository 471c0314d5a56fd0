"""Where everything of a demo lies."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from fedperm.durable_file import write_durably
from fedperm_cli.errors import DirectoryError

OUT = Path("out")


@dataclass(frozen=True)
class DemoFolder:
    path: Path

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def enrolment_token(self) -> Path:
        return self.secrets / "enrolment-token"

    @property
    def key_encryption_key(self) -> Path:
        return self.secrets / "key-encryption-key"

    @property
    def key_operator_token(self) -> Path:
        return self.secrets / "key-operator-token"

    @property
    def run_operator_token(self) -> Path:
        return self.secrets / "run-operator-token"

    @property
    def secrets(self) -> Path:
        return self.path / "secrets"

    def state(self, name: str) -> Path:
        """Of one process."""
        return self.path / name


def make_folder(wanted: Path | None, out: Path = OUT) -> DemoFolder:
    """With the credentials in it that servers and operators share; nobody else may read them."""
    try:
        folder = DemoFolder((_fresh(out) if wanted is None else _empty(wanted)).resolve())
        folder.logs.mkdir()
        folder.secrets.mkdir(mode=0o700)
        write_durably(folder.key_encryption_key, secrets.token_hex(32).encode())
        for token in (folder.key_operator_token, folder.run_operator_token):
            write_durably(token, secrets.token_urlsafe(32).encode())
    except OSError as error:
        raise DirectoryError(
            f"cannot use {error.filename}: {error.strerror}", "choose another directory with --keep"
        ) from None
    return folder


def _fresh(out: Path) -> Path:
    """The first of out/demo-1, out/demo-2 and so on that is not there yet."""
    for path in _names(out):
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise AssertionError("names do not end")


def _names(out: Path) -> Iterator[Path]:
    return (out / f"demo-{number}" for number in count(1))


def _empty(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise DirectoryError(f"{path} is not empty", "choose a new directory with --keep")
    return path
