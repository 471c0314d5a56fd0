"""`fedperm demo` as people run it: real processes from nothing to the last model, and none left."""

import json
import re
import signal
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND
from tests.cli.operator import Operator
from tests.docs.shell_blocks import blocks

SMALL = ("--clients", "3", "--rounds", "2", "--key-bits", "512", "--insecure-test-key")


def processes_of(folder: Path) -> Sequence[int]:
    """All processes whose environment names the folder, which each of the demo's does."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/environ")
        if str(folder).encode() in _read(path)
    ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it has just ended, or belongs to somebody else


@pytest.mark.system
def test_a_whole_federation_from_nothing_to_equal_models(tmp_path) -> None:
    folder = tmp_path / "demo"
    command = [str(COMMAND), "demo", *SMALL, "--keep", str(folder)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    said = finished.stdout
    assert re.search(r"^operators +this demo plays both", said, re.MULTILINE)
    for number in (1, 2):
        line = rf"^round    {number}  3 of 3 clients  test accuracy +\d+\.\d%"
        assert re.search(line, said, re.MULTILINE)
    for row in range(1, 10):
        assert f"\n{row}. " in said
    assert "epsilon 4 at delta 1e-05" in said
    assert "replacing one of a client's " in said
    assert "identical: yes, all 3 clients hold the same 650 parameters" in said
    models = {path.read_bytes() for path in folder.glob("client-*/runs/demo/model.safetensors")}
    assert len(list(folder.glob("client-*"))) == 3
    assert len(models) == 1
    assert {path.stem for path in (folder / "logs").glob("*.log")} == {
        *("keyserver", "aggregator", "dashboard", "client-1", "client-2", "client-3")
    }
    assert stat.S_IMODE((folder / "secrets").stat().st_mode) == 0o700
    assert re.search(
        r"^dashboard +http://127\.0\.0\.1:\d+/dashboard/login#\S+$", said, re.MULTILINE
    )
    assert "#" not in (folder / "logs" / "dashboard.log").read_text()  # others may read it
    assert processes_of(folder) == []


@pytest.mark.system
def test_while_it_runs_the_readmes_curl_lines_answer_and_ctrl_c_leaves_no_process_behind(tmp_path):
    """One demo for both, since its clients alone take seconds. Its folder is what the README calls
    out/demo-1."""
    folder = tmp_path / "demo"
    with subprocess.Popen(
        [str(COMMAND), "demo", *SMALL, "--keep", str(folder), "--rounds", "40"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        while not demo.stdout.readline().startswith("run "):
            assert demo.poll() is None
        assert len(processes_of(folder)) >= 4
        key, run, metrics = answers_to_the_readme(folder)
        demo.send_signal(signal.SIGINT)
        _, errors = demo.communicate(timeout=60)
    assert json.loads(key)["key"] == "demo"
    assert json.loads(run)["run"] == "demo"
    assert "fedperm_http_requests_total" in metrics
    assert demo.returncode == 130
    assert f"the logs are in {folder / 'logs'}" in errors
    assert "Traceback" not in errors
    assert processes_of(folder) == []


def answers_to_the_readme(folder: Path) -> Sequence[str]:
    (block,) = [block for block in blocks("README.md") if "cd out/demo-1" in block]
    change, *lines = block.strip().splitlines()
    assert change == "cd out/demo-1"
    return [
        subprocess.run(
            ["/bin/bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        for line in lines
    ]


def test_a_folder_that_is_in_use_is_refused(tmp_path) -> None:
    (tmp_path / "file").touch()
    finished = Operator({})("demo", "--keep", str(tmp_path))
    assert finished.returncode == 2
    assert "hint: choose a new directory with --keep" in finished.stderr


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--key-bits", "512"), "a key of 512 bits"),
        (("--epsilon", "-1"), "--epsilon is -1"),
        (("--k1", "0"), "impossible options: k1"),
    ],
)
def test_what_is_impossible_is_refused_before_anything_is_started(tmp_path, wrong, words) -> None:
    folder = tmp_path / "demo"
    finished = Operator({})("demo", *wrong, "--keep", str(folder))
    assert finished.returncode == 2
    assert f"error: {words}" in finished.stderr
    assert not folder.exists()
