"""The installed command tells the shell how it ended; every command says so in its help."""

import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from fedperm_cli.application import application
from fedperm_cli.exit_codes import EPILOG
from tests.cli.command_line import COMMAND
from tests.cli.operator import Operator

ROOT = typer.main.get_command(application)


def commands(group: Any = ROOT, name: str = "") -> Iterator[tuple[str, Any]]:
    for part, command in group.commands.items():
        full = f"{name} {part}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, full)
        else:
            yield full, command


COMMANDS = dict(commands())


def test_these_are_all_commands() -> None:
    assert set(COMMANDS) == {
        *("bench", "privacy", "demo", "init-task", "check-task", "plan", "preflight"),
        *("keys create", "keys ls", "keys rotate", "keys destroy", "keys audit"),
        *("client token", "client ls", "client revoke"),
        *("run create", "run ls", "run show", "run watch", "run stop", "run resume"),
        *("run rekey", "run exclude", "dashboard", "operator show"),
        *("audit verify", "model export", "model evaluate", "deployment prepare", "deployment run"),
        "deployment token",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_documents_its_exit_codes_and_speaks_json(name: str) -> None:
    command = COMMANDS[name]
    assert command.epilog == EPILOG
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--format", "--json"} <= options
    assert command.help


KEY_SIDE = {
    *("keys create", "keys ls", "keys rotate", "keys destroy", "keys audit"),
    *("client token", "client ls", "client revoke"),
    "audit verify",
    "deployment run",  # plays both operators
    "deployment token",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_key_operators_commands_ask_for_the_key_operators_token(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert ("--key-operator-token-file" in options) == (name in KEY_SIDE)


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"bench", "privacy", "plan"}))
def test_contradicting_formats_are_refused_before_anything_is_done(
    operator: Operator, name: str
) -> None:
    away = operator.instead(
        FEDPERM_KEYSERVER="http://127.0.0.1:1",
        FEDPERM_AGGREGATOR="http://127.0.0.1:1",
        FEDPERM_OPERATOR_TOKEN_FILE="token",  # noqa: S106 (a file's name)
    )
    names = ["name"] * sum(not p.opts[0].startswith("-") for p in COMMANDS[name].params)
    names += ["--output", "file"] * (name == "model export")
    names += ["--epoch", "1"] * (name == "keys destroy")
    finished = away(*name.split(), *names, "--json", "--format", "text")
    assert finished.returncode == 2
    assert "--json and --format text contradict each other" in finished.stderr


def shell(operator: Operator, *arguments: str, **settings: str) -> tuple[int, str]:
    finished = subprocess.run(
        [str(COMMAND), *arguments],
        env={**os.environ, **operator.environment, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in finished.stderr
    return finished.returncode, finished.stderr


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("FEDPERM_KEYSERVER", "nowhere", "'nowhere' is no address of a server"),
        ("FEDPERM_KEYSERVER", "http://[", "hint: give one like http://127.0.0.1:8100"),
        ("FEDPERM_KEYSERVER", "localhost:8441", "hint: write http://localhost:8441, or https://"),
        ("FEDPERM_KEY_OPERATOR_TOKEN_FILE", "no-such-file", "secret file no-such-file cannot be"),
        ("FEDPERM_CA_FILE", "no-such-file", "the CA file no-such-file cannot be read"),
    ],
)
def test_wrong_usage_is_2(operator: Operator, setting: str, value: str, words: str) -> None:
    finished = operator.instead(**{setting: value})("keys", "ls")
    assert finished.returncode == 2
    assert words in finished.stderr
    assert "hint: " in finished.stderr


def test_a_missing_setting_is_2_and_named(operator: Operator) -> None:
    finished = operator.without("FEDPERM_KEYSERVER")("keys", "ls")
    assert finished.returncode == 2
    assert "--keyserver" in finished.stderr


def test_a_file_that_is_no_token_is_2(operator: Operator, tmp_path) -> None:
    (tmp_path / "token").write_text("two words")
    wrong = operator.instead(FEDPERM_KEY_OPERATOR_TOKEN_FILE=str(tmp_path / "token"))
    finished = wrong("keys", "ls")
    assert finished.returncode == 2
    assert "two words" not in finished.stderr


def test_a_refusal_is_3(operator: Operator) -> None:
    """The run operator's token opens nothing at the key server."""
    token = operator.environment["FEDPERM_RUN_OPERATOR_TOKEN_FILE"]
    code, words = shell(operator, "keys", "ls", FEDPERM_KEY_OPERATOR_TOKEN_FILE=token)
    assert code == 3
    assert "error: this is not the operator's token\nhint: " in words


def test_whoever_asks_the_other_server_is_told_so(operator: Operator) -> None:
    key_server = operator.environment["FEDPERM_KEYSERVER"]
    finished = operator.instead(FEDPERM_AGGREGATOR=key_server)("run", "ls")
    assert finished.returncode == 3
    assert "error: this server has no path /v1/runs\nhint: " in finished.stderr
    assert "`fedperm preflight` tells which is which" in finished.stderr


def test_silence_is_4(operator: Operator) -> None:
    code, words = shell(operator, "keys", "ls", FEDPERM_KEYSERVER="http://127.0.0.1:1")
    assert code == 4
    assert "error: http://127.0.0.1:1 did not answer" in words
