"""What a server writes is shown, and obeyed by no terminal."""

import io
import json

import pytest
from rich.padding import Padding
from rich.text import Text

from fedperm_cli.pages import PlainConsole
from tests.cli.command_line import COMMAND
from tests.cli.hostile_server import (
    HOSTILE,
    answering,
    obeyed,
    on_a_terminal,
    problem,
    without_styles,
)
from tests.cli.operator import Operator

STATUS = {
    "run": "demo",
    "document": "0" * 64,
    "state": "stopped",
    "reason": HOSTILE,
    "round": 3,
    "rounds": 9,
    "epoch": 1,
    "participants": 2,
    "created_at": 0.0,
}
SHOWN = r"\x1b]52;c;cm0gLXJmIH4=\x07"
MARKUP = "[bold red]red[/] [link=https://example.org]here[/link] :pile_of_poo:"


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "token").write_text("secret")

    def of(address: str) -> dict[str, str]:
        return {
            "FEDPERM_AGGREGATOR": address,
            "FEDPERM_RUN_OPERATOR_TOKEN_FILE": f"{tmp_path}/token",
        }

    return of


def check_is_shown_and_not_obeyed(sent: str) -> None:
    assert obeyed(sent) == set()
    assert SHOWN in sent
    assert "\x1b[8m" not in sent
    assert "\nhint: run this" not in without_styles(sent)
    assert r"\u202egnp.exe" in sent
    assert MARKUP in sent


def test_a_refusal_drives_no_terminal(settings):
    with answering({"/": problem(HOSTILE)}, status=409) as address:
        sent = on_a_terminal([str(COMMAND), "run", "stop", "demo"], settings(address))
    check_is_shown_and_not_obeyed(sent)
    assert "\x1b[31merror:" in sent  # its own styles are there
    assert sent.count("hint: ") == sent.count("hint: run") + 1


def test_a_status_drives_no_terminal(settings):
    with answering({"/v1/runs/demo": STATUS}) as address:
        sent = on_a_terminal([str(COMMAND), "run", "stop", "demo"], settings(address))
    check_is_shown_and_not_obeyed(sent)


@pytest.mark.parametrize("json_wanted", [False, True], ids=["text", "json"])
def test_what_goes_into_a_file_does_no_harm_when_it_is_looked_at(settings, json_wanted):
    with answering({"/v1/runs/demo": STATUS}) as address:
        operator = Operator(settings(address))
        wanted = ["--json"] * json_wanted
        said = operator.succeeds("run", "stop", "demo", *wanted)
    assert obeyed(said) == set()
    assert said.count("\n") == (1 if json_wanted else 7)
    if json_wanted:
        assert json.loads(said)["reason"] == HOSTILE  # not a character was lost


def test_a_refusal_without_end_is_cut(settings):
    with answering({"/": problem("x" * 1_000_000)}, status=409) as address:
        refused = Operator(settings(address))("run", "stop", "demo")
    assert refused.returncode == 3
    assert len(refused.stderr) < 5000
    assert "[998,000 characters]" in refused.stderr


def test_what_others_say_of_their_version_is_cut_and_obeyed_by_nobody(settings):
    told = {"service": HOSTILE, "version": HOSTILE * 50, "protocol": HOSTILE}
    with answering({"/version": told, "/readyz": {}}) as address:
        said = Operator({**settings(address), "FEDPERM_KEYSERVER": address})("preflight")
    assert obeyed(said.stdout + said.stderr) == set()
    assert SHOWN in said.stdout
    assert len(said.stdout) < 20_000


def test_whatever_is_printed_drives_no_terminal():
    """Also what no other place has looked at: a log's end, a text on several lines."""
    console = PlainConsole(file=io.StringIO(), force_terminal=True, width=400)
    console.print(HOSTILE, Text(HOSTILE, style="bold"), Padding(HOSTILE, 1))
    written = console.file.getvalue()
    assert obeyed(written) == set()
    assert "\x1b[1m" in written  # its own styles are there
    assert written.count(r"\x1b]52;c;") == written.count(MARKUP) == 3
