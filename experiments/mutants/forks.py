"""Work in a process of its own, with a limit of time; whatever it starts ends with it."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress


def in_fork(work: Callable[[], int], limit_seconds: float) -> int | None:
    """What `work` returned; None if it took too long. It does not outlive whoever waits for it,
    unless that is killed."""
    child = os.fork()
    if child == 0:
        _do(work)
    status = None
    try:
        status = _waited(child, limit_seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if status is None:
            os.waitpid(child, 0)
    return status


def _do(work: Callable[[], int]) -> None:
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        status = work()
    finally:
        os._exit(status)


def _waited(child: int, limit_seconds: float) -> int | None:
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return None
