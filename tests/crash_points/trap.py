"""Where a process is to die: a file that its parent writes while it lives."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from fedperm.crash_points import Watcher
from fedperm.durable_file import TEMPORARY_SUFFIX
from tests.crash_points.writes import persists


class Trap:
    def __init__(self, path: Path) -> None:
        self._path = path

    def set(self, moment: str) -> None:
        """The next passing of this moment is the last one."""
        unfinished = self._path.with_name(self._path.name + TEMPORARY_SUFFIX)
        unfinished.write_text(moment)
        unfinished.replace(self._path)

    @property
    def is_set(self) -> bool:
        return self._path.exists()

    def watcher(self) -> Watcher:
        """For the process that is to die; its successor is not to die of the same."""

        def watch(passed: str) -> None:
            with suppress(FileNotFoundError):
                if self._path.read_text() == passed and persists(passed):
                    self._path.unlink()
                    os.kill(os.getpid(), signal.SIGKILL)

        return watch
