"""From what was told to figures, worked by hand."""

from dataclasses import replace

import pytest

from experiments.load.errors import LoadError
from experiments.load.report import LoadReport
from experiments.load.summary import Ending, percentile, summarise
from tests.load.stories import (
    ALL_DONE,
    DONE,
    METRICS,
    MIB,
    SETTING,
    TWO_ROUNDS,
    UP,
    WATCHED,
    round_told,
    told,
)

UPLOADS = (1.0, 2.0, 6.0)


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1.0), (50, 2.5), (75, 4.5), (99, 3.0 + 0.97 * 6), (100, 9.0)]
)
def test_a_percentile_lies_between_its_neighbours(percent, expected):
    """Of four values the third and the fourth are at 2/3 and at all."""
    assert percentile([9.0, 1.0, 3.0, 2.0], percent) == pytest.approx(expected)


def test_figures_of_two_rounds():
    report = summarise(SETTING, told(*TWO_ROUNDS), ALL_DONE, WATCHED)
    assert report.rounds_per_minute == 2.0  # 100 to 160
    assert report.clients.upload.p50 == 3.5
    assert report.clients.upload.p99 == pytest.approx(5.95)
    assert report.clients.seconds.encrypt == 3.0
    assert report.clients.seconds.upload == 3.5
    assert report.clients.bytes_up == 1003.5
    assert report.aggregator_seconds.folding_cpu == 1.5
    assert report.aggregator.cpu_seconds == 7.5
    assert report.aggregator.peak_memory_bytes == 80 * MIB
    assert report.one_client.idle_memory_bytes == 80 * MIB
    assert report.aggregator.idle_memory_bytes == 50 * MIB
    assert report.failures.total == 0


@pytest.mark.parametrize(
    ("last", "endings", "kind", "count"),
    [
        (
            round_told(2, 150.0, UPLOADS, states=("included", "rejected", "included")),
            ALL_DONE,
            "rejected_uploads",
            1,
        ),
        (
            round_told(2, 150.0, UPLOADS, states=("included", "dropped", "included")),
            ALL_DONE,
            "missing_uploads",
            1,
        ),
        (
            round_told(2, 150.0, UPLOADS, states=("included",)),
            ALL_DONE,
            "missing_uploads",
            2,
        ),
        (TWO_ROUNDS[1], replace(ALL_DONE, operator=Ending(1, 0)), "failed_operator", 1),
        (TWO_ROUNDS[1], replace(ALL_DONE, operator=UP), "failed_operator", 1),
        (TWO_ROUNDS[1], replace(ALL_DONE, clients=(DONE, Ending(3, 0), DONE)), "failed_clients", 1),
        (TWO_ROUNDS[1], replace(ALL_DONE, clients=(DONE, Ending(0, 2), DONE)), "failed_clients", 1),
        (TWO_ROUNDS[1], replace(ALL_DONE, clients=(DONE,)), "failed_clients", 2),
        (TWO_ROUNDS[1], replace(ALL_DONE, servers=(UP, Ending(None, 1))), "failed_servers", 1),
    ],
)
def test_every_failure_is_counted_once(last, endings, kind, count):
    failures = summarise(SETTING, told(TWO_ROUNDS[0], last), endings, WATCHED).failures
    assert getattr(failures, kind) == count
    assert failures.total == count


def test_an_aborted_round_lacks_its_uploads_too_and_has_no_times():
    aborted = round_told(2, 150.0, (), state="aborted", states=("dropped", "dropped"))
    report = summarise(SETTING, told(TWO_ROUNDS[0], aborted), ALL_DONE, WATCHED)
    assert (report.failures.aborted_rounds, report.failures.missing_uploads) == (1, 3)
    assert len(report.rounds) == 1
    assert report.rounds_per_minute == 6.0


def test_an_aggregator_that_was_not_watched_to_the_end_gives_no_figures():
    early = replace(WATCHED, aggregator=WATCHED.aggregator[:2])
    with pytest.raises(LoadError, match="ended before the last round"):
        summarise(SETTING, told(*TWO_ROUNDS), ALL_DONE, early)


def test_a_run_without_rounds_is_reported_as_a_failure():
    report = summarise(SETTING, told(), replace(ALL_DONE, clients=(), operator=UP), WATCHED)
    assert report.clients is None
    assert report.rounds_per_minute == 0
    assert report.failures.missing_uploads == 6
    assert report.failures.failed_clients == 3


def test_answers_other_than_success_are_told_but_are_no_failures():
    report = summarise(SETTING, told(*TWO_ROUNDS, metrics=METRICS), ALL_DONE, WATCHED)
    assert [(refusal.method, refusal.count) for refusal in report.refusals] == [
        ("GET", 7),
        ("PUT", 2),
    ]
    assert report.failures.total == 0


def test_a_report_comes_back_from_its_json():
    report = summarise(SETTING, told(*TWO_ROUNDS, metrics=METRICS), ALL_DONE, WATCHED)
    assert LoadReport.model_validate_json(report.model_dump_json(indent=1)) == report
