"""`python -m fedperm_client` as a process: exit codes, words, signals."""

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fedperm.errors import (
    AggregateError,
    BudgetError,
    LedgerError,
    SettingsError,
    UnreachableError,
    UntrustedError,
)
from fedperm_client.__main__ import exit_code, main
from fedperm_client.errors import CeilingError, StateError, TaskError

TOKEN = f"fpt1.abc.{'A' * 43}.{'0' * 64}"
NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing listens there."""


def variables(folder: Path, **settings: str) -> dict[str, str]:
    own = {
        "KEYSERVER_URL": NOBODY,
        "AGGREGATOR_URL": NOBODY,
        "RUN": "demo",
        "KEY": "main",
        "STATE_DIRECTORY": str(folder / "state"),
        "ENROLMENT_TOKEN": TOKEN,
        "MAX_EPSILON": "4",
    }
    return {f"FEDPERM_CLIENT_{name}": value for name, value in (own | settings).items()}


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """The command in this process: its exit code and what it logged."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(**settings: str) -> tuple[int, list[str]]:
        for name, value in variables(tmp_path, **settings).items():
            monkeypatch.setenv(name, value)
        code = main()
        lines = capsys.readouterr().err.splitlines()
        return code, [json.loads(line)["message"] for line in lines]

    yield run
    root.handlers[:], root.level = handlers, level


def test_wrong_settings_end_with_2_and_are_named(run):
    code, (message,) = run(MIN_WINDOWS="3")
    assert code == 2
    assert "unknown settings: FEDPERM_CLIENT_MIN_WINDOWS" in message


def test_a_missing_token_ends_with_2(run):
    code, (message,) = run(ENROLMENT_TOKEN="")
    assert code == 2
    assert "has no enrolment token" in message


def test_servers_that_do_not_answer_in_time_end_with_1(run):
    code, messages = run(PATIENCE_SECONDS="0.5")
    assert code == 1
    assert "not yet" in messages[0]
    assert f"{NOBODY} did not answer" in messages[-1]
    assert TOKEN not in str(messages)


def test_a_ledger_of_another_budget_ends_with_3(run):
    run(PATIENCE_SECONDS="0")
    code, (message,) = run(MAX_EPSILON="5")
    assert code == 3
    assert "started with another budget" in message


def test_signals_end_it_while_it_waits(tmp_path):
    """Two processes at once: most of their time goes into importing torch."""
    signals = [signal.SIGTERM, signal.SIGINT]
    command = [sys.executable, "-m", "fedperm_client"]
    environments = [os.environ | variables(tmp_path / number.name) for number in signals]
    clients = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        for environment in environments
    ]
    for client, number in zip(clients, signals, strict=True):
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
