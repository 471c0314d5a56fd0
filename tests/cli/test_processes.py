"""Processes that the demo starts end with it, whatever they do, and all that they started too."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from fedperm_cli.errors import FederationError
from fedperm_cli.federation.processes import Processes
from tests.cli.started import start_unruly
from tests.proc import is_running


@pytest.fixture
def processes(tmp_path) -> Iterator[Processes]:
    with Processes(tmp_path) as processes:
        yield processes


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_killed_process_takes_its_children_along(processes, tmp_path):
    process, child = start_unruly(processes, tmp_path)
    process.kill()
    assert process.poll() == -9
    assert ends(child)


def test_a_process_that_ignores_sigterm_is_killed_after_a_while(processes, tmp_path):
    process, child = start_unruly(processes, tmp_path, IGNORE_SIGTERM="1")
    process.ask_to_stop()
    with pytest.raises(FederationError, match="has not ended"):
        process.wait(0.2)
    process.stop(grace_seconds=0.2)
    assert process.poll() == -9
    assert ends(child)


def test_a_process_that_stops_when_asked_leaves_no_child(processes, tmp_path):
    process, child = start_unruly(processes, tmp_path)
    process.stop()
    assert process.poll() == -15
    assert ends(child)


def test_everything_ends_with_the_block_also_after_an_error(tmp_path):
    started = []

    def fail() -> None:
        with Processes(tmp_path) as processes:
            started.append(start_unruly(processes, tmp_path))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    process, child = started[0]
    assert process.poll() is not None
    assert ends(child)


def test_a_process_that_fails_shows_the_end_of_its_log(processes, tmp_path):
    process, child = start_unruly(processes, tmp_path, FAIL="1")
    assert process.wait(20) == 7
    with pytest.raises(FederationError) as error:
        process.check()
    assert "unruly ended with exit code 7" in error.value.message
    assert "error: no luck hint=again" in error.value.message
    assert str(process.log) in error.value.hint
    assert ends(child)


def test_settings_from_outside_do_not_reach_a_process(processes, tmp_path, monkeypatch):
    monkeypatch.setenv("FEDPERM_AGGREGATOR", "http://example.invalid")
    process, _ = start_unruly(processes, tmp_path, FEDPERM_OWN="1")
    assert process.log.read_text() == "settings ['FEDPERM_OWN']\n"


KILLED = """
import sys
from pathlib import Path
from fedperm_cli.federation.processes import Processes
from tests.cli.started import start_unruly
folder = Path(sys.argv[1])
process, child = start_unruly(Processes(folder), folder, IGNORE_SIGTERM="1")
print(process.pid, child, flush=True)
sys.stdin.read()
"""


def test_everything_ends_also_when_the_demo_itself_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as demo:
        process, child = map(int, demo.stdout.readline().split())
        assert is_running(process)
        assert is_running(child)
        demo.kill()
    assert ends(process)
    assert ends(child)
