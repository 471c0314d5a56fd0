"""Whoever ends the demo, ends its processes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def all_ends_alike() -> Iterator[None]:
    """SIGTERM and SIGHUP (a closed terminal) as Ctrl-C, which counts even where the shell has it
    ignored, as it does for what runs in the background."""
    before = {number: signal.signal(number, handler) for number, handler in _ENDS.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _as_ctrl_c(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)


_ENDS = {
    signal.SIGINT: signal.default_int_handler,  # the one that asyncio knows
    signal.SIGTERM: _as_ctrl_c,
    signal.SIGHUP: _as_ctrl_c,
}
