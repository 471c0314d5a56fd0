"""Calls into code that is not ours: whatever it raises becomes an error in words."""

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedperm.errors import FedPermError
from fedperm_client.errors import TaskError

TASK_ERRORS = Exception, SystemExit
"""What a task's code may end with: sys.exit in it must not end the client."""

_OTHERS = Path(__file__).parents[1], Path(sysconfig.get_path("stdlib"))


@contextmanager
def asking_for(part: str) -> Iterator[None]:
    """`part` is what is called, for the error."""
    try:
        yield
    except FedPermError:
        raise
    except TASK_ERRORS as error:
        raise TaskError(
            f"{part} failed: {type(error).__name__}: {error}", f"correct it{place_of(error)}"
        ) from error


def place_of(error: BaseException) -> str:
    """The last line of the task's own file on the way to the error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_the_tasks(frame.filename)]
    return f": {own[-1].filename}, line {own[-1].lineno}" if own else ""


def _is_the_tasks(file: str) -> bool:
    is_installed = "site-packages" in file or file.startswith("<")
    return not is_installed and not any(folder in Path(file).parents for folder in _OTHERS)
