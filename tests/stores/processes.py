"""Servers as processes of their own: on a state directory that can be locked, or on a tiny disk."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.services import SERVICES
from tests.proc import children_of

PATIENCE_SECONDS = 60.0


class ServerProcess:
    """What `Bench` needs of an aggregator, and a key server as well."""

    def __init__(
        self, program: str, folder: Path, operator: str, prefix: tuple[str, ...] = (), **more: str
    ) -> None:
        self.program, self.state = program, folder / "state"
        self.state.mkdir()
        self._log = folder / "log"
        (folder / "token").write_text(operator)
        service = SERVICES[program]
        named = service.environment(
            port=0,
            address_file=folder / "address",
            operator_token_file=folder / "token",
            state_directory=self.state,
            insecure_for_tests=True,
            **more,
        )
        with self._log.open("wb") as log:
            command = [*prefix, sys.executable, "-m", service.module]
            self.process = subprocess.Popen(command, env=os.environ | named, stderr=log)
        self.address = self._found(folder / "address")
        self.http = httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_SECONDS)
        self.api = AggregatorApi(Connection(self.http, Patience(PATIENCE_SECONDS)))
        self.impatient = AggregatorApi(Connection(self.http, Patience(0.0)))

    @property
    def database(self) -> Path:
        return self.state / f"{self.program}.db"

    def log(self) -> str:
        return self._log.read_text()

    @contextmanager
    def workers_stopped(self) -> Iterator[None]:
        """What they are given is not done before the end."""
        workers = children_of(self.process.pid)
        assert workers
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        try:
            yield
        finally:
            for worker in workers:
                os.kill(worker, signal.SIGCONT)

    async def end(self) -> None:
        """In order: what it began it finishes, and its worker processes end with it."""
        await self.http.aclose()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_SECONDS) in (0, -signal.SIGTERM), self.log()

    def _found(self, address: Path) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not address.exists():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)
        return address.read_text()


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Somebody else writes, and does not come to an end."""
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


class TinyDisk:
    """A file system in memory that only the server's process sees; as the user that we are."""

    def __init__(self, octets: int) -> None:
        self._octets = octets

    def prefix(self, state: Path) -> tuple[str, ...]:
        """Before the server's command: mounts the disk there, then becomes the server."""
        mount = 'mount -t tmpfs -o "size=$1" fedperm "$2" && shift 2 && exec "$@"'
        return (*_NAMESPACE, "sh", "-c", mount, "sh", str(self._octets), str(state))

    @contextmanager
    def full(self, server: ServerProcess, octets_left: int = 0) -> Iterator[None]:
        """But for so much, which is rounded down to whole pages."""
        filler = self.seen(server) / "filler"
        try:
            with filler.open("wb") as file:
                free = os.statvfs(filler)
                os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - octets_left)
            yield
        finally:
            filler.unlink()

    def seen(self, server: ServerProcess) -> Path:
        """The state directory as the server sees it."""
        return Path(f"/proc/{server.process.pid}/root{server.state}")


_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def tiny_disk(octets: int, folder: Path) -> TinyDisk:
    """Skips whoever asks where the system does not let its users mount."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed (util-linux)")
    command = [*_NAMESPACE, "mount", "-t", "tmpfs", "fedperm", str(folder)]
    tried = subprocess.run(command, capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"no mounts in a namespace of one's own here: {tried.stderr.decode().strip()}")
    return TinyDisk(octets)
