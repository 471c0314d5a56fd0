"""Processes without the cost of their start: one that has imported a program forks them.

    python -m tests.crash_points.nursery fedperm_client

Orders come as lines of JSON, and each is answered with a line. A child is a process like any
other, which the product's launcher watches and ends: a SIGKILL takes its memory and its sockets,
and leaves its files.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 120.0
_PAUSE_SECONDS = 0.005


class Nursery:
    """In the test's process: gives the orders."""

    def __init__(self, *programs: str) -> None:
        single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads do not fork
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash_points.nursery", *programs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | single,
            text=True,
            start_new_session=True,
        )

    def spawn(self, module: str, environment: Mapping[str, str], log: Path) -> "Forked":
        """In place of `spawn_python`; the trap of the process lies beside its log."""
        order = {"module": module, "environment": dict(environment), "log": str(log)}
        return Forked(self, self._ask(order))

    def end_of(self, pid: int) -> int | None:
        """How the child ended, negative after a signal; None while it lives."""
        code: int | None = self._ask({"pid": pid})
        return code

    def close(self) -> None:
        """Its children belong to whoever had them born."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class Forked:
    """A `Child`."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self._code: int | None = None
        self.pid = pid

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._nursery.end_of(self.pid)
        return self._code

    def wait(self) -> int:
        end = time.monotonic() + PATIENCE_SECONDS
        while (code := self.poll()) is None:
            assert time.monotonic() < end, "it did not end"
            time.sleep(_PAUSE_SECONDS)
        return code


def main(programs: list[str]) -> None:
    """In the nursery's own process."""
    from tests.crash_points.lives import program  # noqa: PLC0415 (imports everything)
    from tests.crash_points.warming import warm_up  # noqa: PLC0415

    for name in programs:
        program(name)
        warm_up(name)
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        answer = _end_of(order["pid"]) if "pid" in order else _bear(order)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _end_of(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _bear(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(_life(order["module"], order["environment"], Path(order["log"])))
        finally:
            os._exit(1)
    os.setpgid(pid, pid)  # before anybody knows of it: it is killed as a group
    return pid


def _life(module: str, environment: dict[str, str], log: Path) -> int:
    from fedperm.crash_points import watching  # noqa: PLC0415
    from tests.crash_points.lives import become, live  # noqa: PLC0415
    from tests.crash_points.trap import Trap  # noqa: PLC0415
    from tests.crash_points.writes import observing_writes  # noqa: PLC0415

    become(environment, log)
    with observing_writes(), watching(Trap(log.parent / "trap").watcher()):
        return live(module, log.parent)


if __name__ == "__main__":
    main(sys.argv[1:])
