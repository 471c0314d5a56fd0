"""Both ways of starting a process keep what `Processes` relies on."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedperm.services import KEY_SERVER
from fedperm.state_folder import sole_user
from fedperm_cli.federation.processes import Processes, RunningServer, spawn_python
from tests.aggregator.bench import quick_folder
from tests.keyserver.server import KEK, OPERATOR

WAYS = [spawn_python, pytest.param("nursery", marks=pytest.mark.system)]
PATIENCE_SECONDS = 60.0


@pytest.fixture(params=WAYS, ids=["python", "nursery"])
def spawn(request):
    """A nursery takes seconds to grow, so only those who ask for it wait."""
    if request.param == "nursery":
        return request.getfixturevalue("servers").spawn
    return request.param


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as folder:
        (folder / "token").write_text(OPERATOR)
        (folder / "kek").write_text(KEK)
        yield folder


@pytest.fixture
def processes(folder, spawn, monkeypatch) -> Iterator[Processes]:
    monkeypatch.setenv("FEDPERM_KEYSERVER_HOTS", "a setting from outside would be refused")
    with Processes(folder, spawn) as processes:
        yield processes


def start(processes: Processes, folder: Path) -> RunningServer:
    environment = KEY_SERVER.environment(
        state_directory=folder / "state",
        operator_token_file=folder / "token",
        key_encryption_key_file=folder / "kek",
    )
    return processes.start_server(KEY_SERVER, environment)


def test_it_leads_a_group_writes_its_log_and_ends_well_when_asked(processes, folder):
    server = start(processes, folder)
    server.wait_until_ready(PATIENCE_SECONDS)
    assert os.getpgid(server.pid) == server.pid != os.getpgrp()
    assert "open" in server.log.read_text()
    server.ask_to_stop()
    assert server.wait(PATIENCE_SECONDS) == 0


def test_it_is_killed_and_comes_back_at_the_same_address(processes, folder):
    server = start(processes, folder)
    address, before = server.wait_until_ready(PATIENCE_SECONDS), server.pid
    server.kill()
    assert server.poll() == -signal.SIGKILL
    server.restart()
    assert server.wait_until_ready(PATIENCE_SECONDS) == address
    assert server.pid != before


def test_one_that_ended_before_it_listened_finds_a_port_when_it_comes_back(processes, folder):
    with sole_user(folder / "state", KEY_SERVER.title):
        server = start(processes, folder)
        assert server.wait(PATIENCE_SECONDS) == 2
    assert "another key server uses" in server.log.read_text()
    assert not server.listens
    server.restart()
    assert server.wait_until_ready(PATIENCE_SECONDS).startswith("http://127.0.0.1:")
