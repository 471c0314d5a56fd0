"""A watched run on a terminal: bars for the round under way, lines for those that are over."""

import io

from rich.console import Console

from fedperm_cli.run.round_progress import RoundProgress
from fedperm_cli.run.round_summary import summarise
from fedperm_cli.run.views import live_view
from tests.cli.round_reports import round_report


def screen(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False)


def show_a_round(console: Console) -> str:
    with live_view(console) as view:
        view.tell_progress(RoundProgress(3, 5, stored=2, checked=1))
        view.tell_progress(RoundProgress(3, 5, stored=5, checked=5, folded=4, fold_jobs=9))
        view.tell_round(summarise(round_report(3, [0.5, 0.5])))
        view.tell_note("stopped")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_has_bars_that_move():
    drawn = show_a_round(screen(terminal=True))
    for words in ("round    3  uploads in", "2 of 5", "5 of 5", "folded", "4 of 9"):
        assert words in drawn
    assert "test accuracy  50.0%" in drawn


def test_a_pipe_has_plain_lines_only():
    line, note = show_a_round(screen(terminal=False)).splitlines()
    assert line.startswith("round    3  2 of 2 clients  test accuracy  50.0%")
    assert note == "stopped"
    assert "\x1b" not in line
