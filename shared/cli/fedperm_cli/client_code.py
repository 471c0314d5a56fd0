"""The client's code brings torch; the command does without it where it can."""

from collections.abc import Iterator
from contextlib import contextmanager

from fedperm.services import CLIENT
from fedperm_cli.errors import MissingExtraError


@contextmanager
def client_code(why: str) -> Iterator[None]:
    """Around its imports, which belong into functions: they take seconds."""
    try:
        yield
    except ImportError as error:
        if not str(error.name).startswith((CLIENT.module, "torch")):
            raise
        raise MissingExtraError(
            f"{why}, which is not installed", "pip install 'fedperm-cli[tasks]'"
        ) from None
