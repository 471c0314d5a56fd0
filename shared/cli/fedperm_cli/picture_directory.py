"""Where pictures and their numbers go."""

from pathlib import Path

from fedperm_cli.errors import DirectoryError, MissingExtraError


def check_picture_directory(directory: Path, numbers: str) -> None:
    """Refuses before minutes are spent: no library to draw with, or nowhere to write."""
    try:
        import matplotlib  # noqa: F401, PLC0415  (optional: only figures need it)
    except ImportError:
        raise MissingExtraError(
            "figures need matplotlib", "pip install 'fedperm-cli[figures]'"
        ) from None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / numbers).touch()
    except OSError as error:
        raise DirectoryError(
            f"cannot write to {directory}: {error.strerror}", "choose another directory"
        ) from None
