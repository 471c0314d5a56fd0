"""The processes of a federation: started with a log each, watched, killed, started again, stopped.

Each leads a process group of its own: Ctrl-C reaches the demo alone, and whatever a process has
started itself (the aggregator's workers) ends with it. If the demo is killed, all are.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from fedperm_cli.errors import FederationError
from fedperm_cli.federation.log_tail import end_of_log
from fedperm_cli.federation.process_reaper import ProcessReaper
from fedperm_cli.federation.readiness import answers_ready

GRACE_SECONDS = 10.0
"""From SIGTERM to SIGKILL."""
_PAUSE_SECONDS = 0.05
_OURS = "FEDPERM_"


class RunningProcess:
    """`python -m module` with these environment variables, and none of ours from outside."""

    def __init__(
        self,
        name: str,
        module: str,
        environment: Mapping[str, str],
        folder: Path,
        reaper: ProcessReaper,
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = [sys.executable, "-m", module]
        self._environment = {**_outer_environment(), **environment}
        self._reaper = reaper
        self._process = self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """None while it runs, else its exit code, negative after a signal."""
        if self._process.returncode is None and self._process.poll() is not None:
            _kill_group(self.pid)  # what it left behind
            self._reaper.forget(self.pid)
        return self._process.returncode

    def wait(self, seconds: float) -> int:
        """Its exit code, once it has ended by itself."""
        self.wait_until(lambda: self.poll() is not None, seconds, "has not ended")
        return self._process.wait()

    def check(self) -> None:
        """Refuses a process that has ended."""
        code = self.poll()
        if code is not None:
            raise self.failure(f"ended with exit code {code}")

    def kill(self) -> None:
        """As a crash: SIGKILL to it and to all that it started."""
        if self.poll() is None:
            _kill_group(self.pid)
            self._process.wait()
            self._reaper.forget(self.pid)

    def ask_to_stop(self) -> None:
        """SIGTERM to it alone: it stops its workers itself."""
        if self.poll() is None:
            self._process.terminate()

    def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self.ask_to_stop()
        deadline = time.monotonic() + grace_seconds
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        self.kill()

    def restart(self) -> None:
        """The same again, after it has ended or was killed."""
        if self.poll() is not None:
            self._process = self._start()

    def wait_until(self, done: Callable[[], bool], seconds: float, otherwise: str) -> None:
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise self.failure(f"{otherwise} after {seconds:g} s")
            time.sleep(_PAUSE_SECONDS)

    def failure(self, what: str) -> FederationError:
        return FederationError(
            f"{self.name} {what}; its log ends so:\n{end_of_log(self.log)}",
            f"the whole log is {self.log}",
        )

    def _start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 (a module of ours)
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._reaper.watch(process.pid)
        return process


class RunningServer(RunningProcess):
    """A process that listens on a free port, and keeps it when it is started again."""

    def __init__(
        self,
        name: str,
        module: str,
        environment: Mapping[str, str],
        folder: Path,
        reaper: ProcessReaper,
    ) -> None:
        self._prefix = f"{module.upper()}_"
        self._address_file = folder / f"{name}.address"
        here = {
            f"{self._prefix}PORT": "0",
            f"{self._prefix}ADDRESS_FILE": str(self._address_file),
        }
        super().__init__(name, module, {**environment, **here}, folder, reaper)

    @property
    def address(self) -> str:
        """Known once it is ready."""
        return self._address_file.read_text()

    def wait_until_ready(self, seconds: float = 30.0) -> str:
        """Its address, once it answers that it is ready."""
        self.wait_until(self._is_ready, seconds, "is not ready")
        return self.address

    def restart(self) -> None:
        self._environment[f"{self._prefix}PORT"] = str(urlsplit(self.address).port)
        super().restart()

    def _is_ready(self) -> bool:
        self.check()
        return self._address_file.exists() and answers_ready(self.address)


class Processes:
    """All of them: they end with the block, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[RunningProcess] = []
        self._reaper = ProcessReaper()

    def start(self, name: str, module: str, environment: Mapping[str, str]) -> RunningProcess:
        process = RunningProcess(name, module, environment, self._folder, self._reaper)
        self._started.append(process)
        return process

    def start_server(self, name: str, module: str, environment: Mapping[str, str]) -> RunningServer:
        """Ready a little later: see `wait_until_ready`."""
        server = RunningServer(name, module, environment, self._folder, self._reaper)
        self._started.append(server)
        return server

    def stop(self) -> None:
        """All are asked at once; whoever is not gone after the grace period is killed."""
        try:
            for process in self._started:
                process.ask_to_stop()
            deadline = time.monotonic() + GRACE_SECONDS
            for process in self._started:
                process.stop(max(0.0, deadline - time.monotonic()))
        finally:  # also when somebody presses Ctrl-C again
            for process in self._started:
                process.kill()
            self._reaper.dismiss()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _outer_environment() -> dict[str, str]:
    """A service refuses settings that it does not know, and another's are not for it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
