"""What time it is: an argument everywhere, so that tests can move it.

Times are POSIX seconds (UTC), on the wire and in databases alike.
"""

import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """POSIX seconds."""


class SystemClock:
    """The operating system's."""

    def now(self) -> float:
        return time.time()
