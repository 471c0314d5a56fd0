"""Processes that are started with a log each, watched, killed, started again and stopped.

Each leads a process group of its own: Ctrl-C reaches only the program that started it, and what a
process has started itself (the aggregator's workers) ends with it. If that program is killed, the
reaper ends all of them.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit

from fedperm.services import ServiceSpec
from fedperm.web.probe import what_is_wrong
from fedperm_cli.errors import FederationError
from fedperm_cli.federation.log_tail import end_of_log
from fedperm_cli.federation.process_reaper import ProcessReaper

GRACE_SECONDS = 10.0
"""From SIGTERM to SIGKILL."""
READY_SECONDS = 30.0
_PROBE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
_OURS = "FEDPERM_"


class Child(Protocol):
    """A process from its start to its end: what `subprocess.Popen` has."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


Spawn = Callable[[str, Mapping[str, str], Path], Child]
"""Starts a module as the leader of a process group, with these variables and none of ours from
outside, and with this file as its log."""


def spawn_python(module: str, environment: Mapping[str, str], log: Path) -> Child:
    """`python -m module`."""
    # a program refuses settings that it does not know, and those of others are not for it
    outside = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603 (a module of ours)
            [sys.executable, "-m", module],
            env={**outside, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


class RunningProcess:
    """A module with its environment variables; it may be started again after its end."""

    def __init__(
        self,
        name: str,
        module: str,
        environment: Mapping[str, str],
        folder: Path,
        spawn: Spawn,
        reaper: ProcessReaper,
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._module = module
        self._environment = dict(environment)
        self._spawn = spawn
        self._reaper = reaper
        self._exit_code: int | None = None
        self._start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def poll(self) -> int | None:
        """None while it runs, else its exit code, negative after a signal."""
        if self._exit_code is None:
            self._exit_code = self._child.poll()
            if self._exit_code is not None:
                _kill_group(self.pid)  # what it left behind
                self._reaper.forget(self.pid)
        return self._exit_code

    def wait(self, seconds: float) -> int:
        """Its exit code, once it has ended by itself."""
        self.wait_until(lambda: self.poll() is not None, seconds, "has not ended")
        return self._child.wait()

    def check(self) -> None:
        """Refuses a process that has ended."""
        code = self.poll()
        if code is not None:
            raise self.failure(f"ended with exit code {code}")

    def kill(self) -> None:
        """As a crash: SIGKILL to it and to all that it started."""
        if self.poll() is None:
            _kill_group(self.pid)
            self._child.wait()
            self.poll()

    def ask_to_stop(self) -> None:
        """SIGTERM to it alone: it stops its workers itself."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self.ask_to_stop()
        deadline = time.monotonic() + grace_seconds
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        self.kill()

    def restart(self) -> None:
        """The same again, after it has ended or was killed."""
        if self.poll() is not None:
            self._start()

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

    def _start(self) -> None:
        self._child = self._spawn(self._module, self._environment, self.log)
        self._exit_code = None
        self._reaper.watch(self.pid)


class RunningServer(RunningProcess):
    """A service that listens on a free port, and keeps it when it is started again."""

    def __init__(
        self,
        service: ServiceSpec,
        environment: Mapping[str, str],
        folder: Path,
        spawn: Spawn,
        reaper: ProcessReaper,
    ) -> None:
        self._service = service
        self._address: str | None = None
        self._address_file = folder / f"{service.name}.address"
        here = service.environment(port=0, address_file=self._address_file)
        given = {**environment, **here}
        super().__init__(service.name, service.module, given, folder, spawn, reaper)

    @property
    def listens(self) -> bool:
        """Whether it has opened its port since its last start."""
        return self._address_file.exists()

    @property
    def address(self) -> str:
        """Known once it listens, and then for good."""
        if self._address is None:
            self._address = self._address_file.read_text()
        return self._address

    def wait_until_ready(self, seconds: float = READY_SECONDS, ca_file: Path | None = None) -> str:
        """Its address, once /readyz answers that it can do its work."""
        ca = None if ca_file is None else str(ca_file)

        def is_ready() -> bool:
            self.check()
            if not self.listens:
                return False
            return (
                what_is_wrong(f"{self.address}/readyz", ca, timeout_seconds=_PROBE_SECONDS) is None
            )

        self.wait_until(is_ready, seconds, "is not ready")
        return self.address

    def restart(self) -> None:
        if self.listens:  # one that was killed before still asks for any port
            self._environment |= self._service.environment(port=urlsplit(self.address).port)
        super().restart()

    def _start(self) -> None:
        self._address_file.unlink(missing_ok=True)
        super()._start()


class Processes:
    """All of them: they end with the block, however it ends. `folder` gets their logs."""

    def __init__(self, folder: Path, spawn: Spawn = spawn_python) -> None:
        self._folder = folder
        self._spawn = spawn
        self._started: list[RunningProcess] = []
        self._reaper = ProcessReaper()

    def start(self, name: str, module: str, environment: Mapping[str, str]) -> RunningProcess:
        process = RunningProcess(name, module, environment, self._folder, self._spawn, self._reaper)
        self._started.append(process)
        return process

    def start_server(self, service: ServiceSpec, environment: Mapping[str, str]) -> RunningServer:
        """Ready a little later: see `wait_until_ready`."""
        server = RunningServer(service, environment, self._folder, self._spawn, self._reaper)
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


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
