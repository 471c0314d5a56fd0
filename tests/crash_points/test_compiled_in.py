"""Crash points exist where a test asks for them by the environment, and nowhere else."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fedperm.services import AGGREGATOR, CLIENT, KEY_SERVER, ProgramSpec
from tests.aggregator.parties import OPERATOR
from tests.keyserver.server import KEK

NOT_COMPILED_IN = """
from fedperm import crash_points
from fedperm.database import Database
from fedperm_client.outbox import Outbox

def step() -> None: ...

assert crash_points.persisting(step) is step
assert not hasattr(Outbox.put, "__wrapped__")
try:
    with crash_points.watching(print):
        raise SystemExit("it can be watched")
except RuntimeError:
    crash_points.passing("done")  # nobody looks
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("FEDPERM_")}
    return subprocess.run(
        [sys.executable, *arguments],
        env=ours | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_the_variable_a_step_is_the_very_method_and_nothing_can_watch():
    ended = run("-c", NOT_COMPILED_IN)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def settings(program: ProgramSpec, folder: Path) -> dict[str, str]:
    """Those that are needed to get as far as the first thing that is written."""
    (folder / "token").write_text(OPERATOR)
    (folder / "kek").write_text(KEK)
    of_servers = {"operator_token_file": folder / "token", "port": 0}
    of_client = {
        "keyserver_url": "http://127.0.0.1:9",
        "aggregator_url": "http://127.0.0.1:9",
        "run": "demo",
        "key": "main",
        "max_epsilon": 1,
    }
    chosen = {
        AGGREGATOR: of_servers,
        KEY_SERVER: {**of_servers, "key_encryption_key_file": folder / "kek"},
        CLIENT: of_client,
    }[program]
    return program.environment(state_directory=folder / "state", **chosen)


@pytest.mark.parametrize(
    ("program", "moment"),
    [
        (AGGREGATOR, "JobStore.free_all.uncommitted"),
        (KEY_SERVER, "IdentityStore.keep.done:1"),
        (CLIENT, "Ledger.start.done"),
    ],
)
def test_a_program_dies_where_the_variable_says_and_warns_of_it(program, moment, tmp_path):
    environment = settings(program, tmp_path)
    ended = run("-m", program.module, **environment, FEDPERM_TEST_CRASH_POINT=moment)
    assert ended.returncode == -signal.SIGKILL
    assert "for tests only" in ended.stderr + ended.stdout
