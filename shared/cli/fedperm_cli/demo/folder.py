"""Which folder a demo gets."""

from itertools import count
from pathlib import Path

from fedperm_cli.errors import DirectoryError
from fedperm_cli.federation.folder import FederationFolder, make_folder

OUT = Path("out")


def demo_folder(wanted: Path | None, out: Path = OUT) -> FederationFolder:
    """The wanted one if it is new or empty, else the first of out/demo-1, out/demo-2 and so on
    that is not there yet."""
    try:
        return make_folder(_fresh(out) if wanted is None else _empty(wanted))
    except OSError as error:
        raise DirectoryError(
            f"cannot use {error.filename}: {error.strerror}", "choose another directory with --keep"
        ) from None


def _fresh(out: Path) -> Path:
    for number in count(1):
        path = out / f"demo-{number}"
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise AssertionError("names do not end")


def _empty(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise DirectoryError(f"{path} is not empty", "choose a new directory with --keep")
    return path
