"""Commands in the documents do what the documents say, with real servers and real keys."""

import json
import os
import re
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from fedperm_cli.demo.processes import GRACE_SECONDS

ROOT = Path(__file__).parents[2]
FEDPERM = ROOT / ".venv/bin/fedperm"


def blocks(document: str, kind: str = "") -> list[str]:
    text = (ROOT / document).read_text()
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for its_kind, block in fenced if its_kind == kind]


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


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    """A demo that is under way; its folder is what the README calls out/demo-1."""
    folder = tmp_path_factory.mktemp("readme") / "demo"
    small = ["--clients", "2", "--rounds", "40", "--key-bits", "512", "--insecure-test-key"]
    demo = subprocess.Popen(
        [FEDPERM, "demo", *small, "--keep", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert demo.stdout is not None
    said = ""
    while not said.startswith("run "):
        said = demo.stdout.readline()
        assert said, "the demo ended early"
    yield folder
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=2 * GRACE_SECONDS)


def test_the_readmes_curl_lines(demo_folder):
    (block,) = [b for b in blocks("README.md") if "curl" in b]
    change, *lines = block.strip().splitlines()
    assert change == "cd out/demo-1"
    key, run, participants, metrics = (
        subprocess.run(
            ["/bin/bash", "-c", line], cwd=demo_folder, capture_output=True, text=True, check=True
        ).stdout
        for line in lines
    )
    assert json.loads(key)["key"] == "demo"
    assert json.loads(run)["run"] == "demo"
    assert isinstance(json.loads(participants)["participants"], list)
    assert "fedperm_http_requests_total" in metrics
