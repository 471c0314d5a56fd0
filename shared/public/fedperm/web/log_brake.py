"""So many warnings and no more: whoever makes a server warn must not fill its disk with them."""

import logging
from collections import Counter

from fedperm.clock import Clock
from fedperm.errors import RateLimitError
from fedperm.web.rate_limit import RateLimit

BURST = 50
PER_SECOND = 1.0
LOUD = ("uvicorn.error", "asyncio", "fedperm.web.")
"""Loggers of what anybody can cause who reaches the port."""


class LogBrake:
    """Of each place in the code so many warnings at once, then so many a second. The next one that
    passes has the number of those that did not, `left_out`."""

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or not record.name.startswith(LOUD):
            return True
        place = f"{record.pathname}:{record.lineno}"
        try:
            self._limit.take(place)
        except RateLimitError:
            self._left_out[place] += 1
            return False
        if left_out := self._left_out.pop(place, 0):
            record.left_out = left_out
        return True


def brake_logs(clock: Clock) -> None:
    """Filters stand with the handlers: those of a logger do not see what its children log."""
    brake = LogBrake(RateLimit(BURST, PER_SECOND, clock))
    for handler in logging.getLogger().handlers:
        handler.addFilter(brake)
