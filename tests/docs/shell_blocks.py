"""What stands between fences in a document, and its execution as it stands."""

import os
import re
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fedperm.services import SERVICES

ROOT = Path(__file__).parents[2]
PORTS = tuple(str(service.port) for service in SERVICES.values())
PATIENCE_SECONDS = 900
"""A minute where nobody else wants the processor."""


@dataclass(frozen=True)
class Executed:
    returncode: int
    said: str


def blocks(document: str, kind: str = "") -> list[str]:
    text = (ROOT / document).read_text()
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for its_kind, block in fenced if its_kind == kind]


def on_free_ports(script: str) -> str:
    """Everything as it stands but for the servers' ports, which somebody else may have here."""
    for port in PORTS:
        assert port in script
        script = script.replace(port, str(free_port()))
    return script


def executed(script: str, folder: Path) -> Executed:
    """In an empty folder with the installation beside it; nothing that it started is left."""
    (folder / ".venv").symlink_to(ROOT / ".venv")
    shell = subprocess.Popen(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if not k.startswith("FEDPERM_")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=PATIENCE_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    return Executed(shell.returncode, said)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
