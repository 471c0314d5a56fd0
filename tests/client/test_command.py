"""`python -m fedperm_client` as a process: exit codes, words, signals."""

import json
import os
import signal
import subprocess
import sys

import pytest

from fedperm.errors import (
    AggregateError,
    BudgetError,
    LedgerError,
    SettingsError,
    UnreachableError,
    UntrustedError,
)
from fedperm_client.__main__ import exit_code
from fedperm_client.errors import CeilingError, StateError, TaskError

TOKEN = f"fpt1.abc.{'A' * 43}.{'0' * 64}"
NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing listens there."""


def start(tmp_path, **settings: str) -> subprocess.Popen:
    own = {
        "KEYSERVER_URL": NOBODY,
        "AGGREGATOR_URL": NOBODY,
        "RUN": "demo",
        "KEY": "main",
        "STATE_DIRECTORY": str(tmp_path / "state"),
        "ENROLMENT_TOKEN": TOKEN,
        "MAX_EPSILON": "4",
    } | settings
    variables = {f"FEDPERM_CLIENT_{name}": value for name, value in own.items()}
    return subprocess.Popen(
        [sys.executable, "-m", "fedperm_client"],
        env={**os.environ, **variables},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_wrong_settings_end_with_2_and_are_named(tmp_path):
    client = start(tmp_path, MIN_WINDOWS="3")
    _, errors = client.communicate(timeout=60)
    assert client.returncode == 2
    assert "unknown settings: FEDPERM_CLIENT_MIN_WINDOWS" in json.loads(errors)["message"]


def test_servers_that_do_not_answer_in_time_end_with_1(tmp_path):
    client = start(tmp_path, PATIENCE_SECONDS="0.5")
    _, errors = client.communicate(timeout=60)
    assert client.returncode == 1
    lines = [json.loads(line) for line in errors.splitlines()]
    assert "not yet" in lines[0]["message"]
    assert f"{NOBODY} did not answer" in lines[-1]["message"]
    assert TOKEN not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits(tmp_path, number):
    client = start(tmp_path)
    assert "not yet" in client.stderr.readline()
    client.send_signal(number)
    _, errors = client.communicate(timeout=60)
    assert client.returncode == 128 + number
    assert json.loads(errors.splitlines()[-1])["message"] == f"stopped by {number.name}"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError("", ""), 2),
        (CeilingError("", ""), 3),
        (BudgetError("", ""), 3),
        (LedgerError("", ""), 3),
        (UnreachableError("", ""), 1),
        (UntrustedError("", ""), 1),
        (AggregateError("", ""), 1),
        (TaskError("", ""), 1),
        (StateError("", ""), 1),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    assert exit_code(error) == code
