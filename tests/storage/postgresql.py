"""A PostgreSQL server of the tests' own: its files are temporary, its socket is one of them."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

PATIENCE_SECONDS = 120
MISSING = "PostgreSQL's server is not installed (on Debian: apt-get install postgresql)"


class PostgreSQL:
    """No fsync: nobody pulls a plug here."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        self._numbers = count(1)
        self._run("initdb", "-D", folder / "data", "--no-sync", "--locale=C", "--encoding=UTF8")
        self.start()

    def start(self) -> None:
        settings = ("listen_addresses=", "fsync=off", f"unix_socket_directories={self._folder}")
        options = [part for setting in settings for part in ("-c", setting)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._folder / "data", *options],
                stderr=log,
                **_somebody(),
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """At once, as in a crash: a shutdown in order would write everything to the disk first."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(PATIENCE_SECONDS)

    def new_database(self) -> str:
        """The URL of an empty one. It is a schema in truth, which is made much faster."""
        name = f"test_{next(self._numbers)}"
        with self._connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        place = f"host={self._folder}&options=-csearch_path%3D{name}"
        return f"postgresql+psycopg://postgres@/postgres?{place}"

    def has_backend(self, pid: int) -> bool:
        with self._connect() as connection:
            answer = connection.execute("SELECT FROM pg_stat_activity WHERE pid = %s", (pid,))
            return answer.rowcount == 1

    def cut_all_connections(self) -> None:
        """But the one that says so: as if the network had gone."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> %s"
        with self._connect() as connection:
            connection.execute(query + " AND datname = 'postgres'", (connection.info.backend_pid,))

    def _connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        address = f"host={self._folder} user=postgres dbname=postgres"
        return psycopg.connect(address, autocommit=True)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._connect().close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self._folder / "log").read_text()
                assert time.monotonic() < deadline, "no answer in time"
                time.sleep(0.02)
            else:
                return

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [self._binaries / program, *map(str, arguments), "--username=postgres"],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
            **_somebody(),
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def running_postgresql() -> Iterator[PostgreSQL]:
    """Skips whoever asks where there is none."""
    binaries = installed_binaries()
    if binaries is None:
        pytest.skip(MISSING)
    with started(binaries) as server:
        yield server


@contextmanager
def started(binaries: Path) -> Iterator[PostgreSQL]:
    with tempfile.TemporaryDirectory(prefix="fedperm-postgresql-", dir=_quick_place()) as name:
        folder = Path(name)
        if somebody := _somebody():
            shutil.chown(folder, somebody["user"], somebody["group"])
        server = PostgreSQL(binaries, folder)
        try:
            yield server
        finally:
            server.stop()


def _quick_place() -> Path | None:
    """Memory, where the system has enough of it."""
    memory = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 1 << 29
    return memory if roomy else None


def installed_binaries() -> Path | None:
    """On the path, or where Debian puts them: the newest."""
    on_path = shutil.which("postgres")
    if on_path is not None:
        return Path(on_path).parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return max((path.parent for path in versions), key=_version, default=None)


def _version(binaries: Path) -> float:
    return float(binaries.parent.name)


def _somebody() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: another user, if these tests do."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "cwd": "/"}
