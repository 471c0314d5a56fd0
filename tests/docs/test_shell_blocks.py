"""Commands in the documents do what the documents say, with real servers and real keys."""

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.docs.shell_blocks import blocks

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("FEDPERM_")}


def test_the_federation_by_hand(tmp_path):
    """As it stands but for the ports, in an empty folder with the installation beside it."""
    (script,) = blocks("docs/operations.md", "sh")
    for port in ("8441", "8100"):
        assert port in script
        script = script.replace(port, str(free_port()))
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    shell = subprocess.Popen(
        ["/bin/bash", "-c", script],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=240)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, said
    assert "round    3  2 of 2 clients" in said
    assert said.rstrip().endswith("same model")
