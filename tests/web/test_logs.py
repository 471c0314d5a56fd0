"""Log lines: whole, bounded, and obeyed by no terminal."""

import json
import logging
import sys

import pytest

from fedperm.logs import JsonLines, PlainLines
from tests.cli.hostile_server import HOSTILE, obeyed

FORMS = [JsonLines(), PlainLines()]


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("fedperm", logging.INFO, "", 0, message, args, None)
    vars(made).update(extra)
    return made


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_what_others_wrote_is_one_line_and_obeyed_by_nobody(form):
    line = form.format(record("file %s", HOSTILE, label=HOSTILE, names=[HOSTILE]))
    assert "\n" not in line
    assert obeyed(line) == set()
    assert "gnp.exe" in line


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_a_line_has_its_bounds(form):
    endless = "x" * 1_000_000
    line = form.format(record("%s", endless, label=endless, names=[endless] * 3, count=7))
    assert len(line) < 8_000
    assert "[998,000 characters]" in line


def fail(words: str) -> None:
    raise ValueError(words)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_a_traceback_is_cut_in_its_middle_and_obeyed_by_nobody(form):
    failed = record("it failed")
    try:
        fail(HOSTILE + "x" * 1_000_000 + "the end")
    except ValueError:
        failed.exc_info = sys.exc_info()
    line = form.format(failed)
    assert len(line) < 20_000
    assert obeyed(line) == set()
    assert "Traceback" in line
    assert "the end" in line


def test_what_is_short_stays_what_it_is():
    line = json.loads(JsonLines().format(record("stored %d", 3, octets=7, names=["a"], none=None)))
    assert line["message"] == "stored 3"
    assert (line["octets"], line["names"], line["none"]) == (7, ["a"], None)
