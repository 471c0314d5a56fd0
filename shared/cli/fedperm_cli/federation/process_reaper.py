"""Ends processes whose starter was killed and could not end them itself.

The reaper is a process of its own that is told over a pipe which process groups there are. The
pipe ends with the process that holds it, however that ends; whatever still runs then is killed.
(The kernel's own way, PR_SET_PDEATHSIG, looks at the thread that started a process, and does not
reach what that process has started.)
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress


class ProcessReaper:
    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (this file)
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )

    def watch(self, leader: int) -> None:
        """The group of a process that was started."""
        self._tell(f"+{leader}\n")

    def forget(self, leader: int) -> None:
        """It has ended; its number may be another's soon."""
        self._tell(f"-{leader}\n")

    def dismiss(self) -> None:
        """All have ended. Killed, not left to notice: somebody may hold a copy of the pipe."""
        self._process.kill()
        self._process.communicate()

    def _tell(self, line: str) -> None:
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None  # noqa: S101 (a pipe, see above)
            self._process.stdin.write(line.encode())


def main() -> None:
    leaders: set[int] = set()
    for line in sys.stdin:
        change = leaders.add if line.startswith("+") else leaders.discard
        change(int(line[1:]))
    for leader in leaders:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


if __name__ == "__main__":
    main()
