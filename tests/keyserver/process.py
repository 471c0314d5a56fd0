"""A key server as a process of its own, found by its address file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fedperm.services import KEY_SERVER
from tests.keyserver.server import KEK, OPERATOR

PATIENCE_SECONDS = 30
PREFIX = KEY_SERVER.env_prefix


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """The settings of a server whose files all lie in the folder."""
    (folder / "operator-token").write_text(OPERATOR + "\n")
    (folder / "kek").write_text(KEK + "\n")
    chosen = {
        "port": "0",
        "address_file": str(folder / "address"),
        "state_directory": str(folder / "state"),
        "operator_token_file": str(folder / "operator-token"),
        "key_encryption_key_file": str(folder / "kek"),
        "insecure_for_tests": "true",
        "log_level": "DEBUG",
        **settings,
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    given = {name: value for name, value in chosen.items() if value}
    return {**clean, **KEY_SERVER.environment(**given)}


def run_to_its_end(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """For starts that fail."""
    command = [sys.executable, "-m", KEY_SERVER.module]
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )


class KeyServerProcess:
    def __init__(self, folder: Path, **settings: str) -> None:
        self.address_file = folder / "address"
        self.address_file.unlink(missing_ok=True)
        self.log = folder / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", KEY_SERVER.module],
                env=environment(folder, **settings),
                stderr=log,
            )
        self.address = self._found_address()

    def _found_address(self) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.address_file.exists():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "no address in time"
            time.sleep(0.02)
        return self.address_file.read_text()

    def stop(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_SECONDS)
