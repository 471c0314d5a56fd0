"""One round in a few numbers, from reports made by hand."""

from dataclasses import replace

from fedperm.wire.aggregator import RoundState
from fedperm_cli.run.pages import accuracy_words
from fedperm_cli.run.round_summary import summarise
from fedperm_cli.run.views import round_line
from tests.cli.round_reports import round_report


def test_numbers_of_all_clients_are_put_together():
    summary = summarise(round_report(4, [0.5, 0.5, None]))
    assert (summary.round, summary.state) == (4, RoundState.PUBLISHED)
    assert (summary.selected, summary.included, summary.reports) == (3, 3, 3)
    assert (summary.bounded, summary.rejected) == (1, 0)
    assert (summary.accuracies, summary.loss) == ((0.5,), 0.5)
    assert (summary.seconds.train, summary.seconds.decrypt) == (2.0, 10.0)
    assert (summary.seconds.open, summary.seconds.fold) == (2.0, 1.5)
    assert summary.total_seconds == 3.5
    assert (summary.bytes_up, summary.bytes_down) == (3000, 30)


def test_clients_that_disagree_are_told_of():
    assert accuracy_words(summarise(round_report(1, [0.5, 0.6]))) == "clients differ"


def test_a_round_that_nobody_tested_has_no_accuracy():
    summary = summarise(round_report(1, [None]))
    assert (summary.accuracy, summary.loss) == (None, None)
    assert accuracy_words(summary) == "-"


def test_a_task_without_classes_is_told_of_by_its_loss():
    summary = replace(summarise(round_report(1, [0.5])), accuracies=(), loss=0.5814)
    assert round_line(summary).startswith("round    1  1 of 1 clients  test loss      0.581   3.50")


def test_a_line_says_all_of_it():
    line = round_line(summarise(round_report(7, [0.725, 0.725])))
    assert line == (
        "round    7  2 of 2 clients  test accuracy  72.5%   3.50 s  up    2 kB  "
        "down 20 bytes  1 bounded"
    )
