"""Whoever ends the demo, ends its processes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def all_ends_alike() -> Iterator[None]:
    """SIGTERM and SIGHUP (a closed terminal) as Ctrl-C."""
    before = {number: signal.signal(number, _as_ctrl_c) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_ENDS = (signal.SIGTERM, signal.SIGHUP)


def _as_ctrl_c(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)
