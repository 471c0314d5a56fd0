"""What people get: a table and a picture."""

from dataclasses import replace

import pytest
from rich.console import Console

from experiments.load.figure import draw
from experiments.load.page import page
from experiments.load.summary import summarise
from tests.load.stories import ALL_DONE, DONE, METRICS, SETTING, TWO_ROUNDS, UP, WATCHED, told

FINE = summarise(SETTING, told(*TWO_ROUNDS, metrics=METRICS), ALL_DONE, WATCHED)
EMPTY = summarise(SETTING, told(), replace(ALL_DONE, operator=UP, clients=(DONE,)), WATCHED)


def text_of(report) -> str:
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(page(report))
    return captured.get()


def test_the_table_says_all_that_was_measured():
    text = text_of(FINE)
    for words in ("2.00", "p50 3.50 s, p99 5.95 s", "7.50 s", "80.0 MiB at most", "up 1 kB"):
        assert words in text
    assert text.split()[-2:] == ["failures", "0"]


def test_requests_that_were_sent_again_are_listed():
    assert "7 x GET /v1/task (503), 2 x PUT /v1/updates/{client} (503)" in text_of(FINE)


def test_failures_are_named():
    assert "9: 6 missing uploads, 2 failed clients, 1 failed operator" in text_of(EMPTY)


@pytest.mark.parametrize("report", [FINE, EMPTY])
def test_the_picture_is_a_png(report, tmp_path):
    path = draw(report, tmp_path / "load.png")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_deployment_is_told_every_number_of_the_setting():
    variables = SETTING.variables()
    assert variables["START_WITH"] == variables["SHARDS"] == "3"
    assert (variables["K1"], variables["PARAMETERS"], variables["ROUNDS"]) == ("4", "8", "2")
