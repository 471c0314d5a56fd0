"""The operator reads what clients sealed, and is told what does not open."""

from random import Random
from typing import Any

import pytest

from fedperm.wire.aggregator import Measured, NamedReport, RoundReport, TestMetrics
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener
from fedperm_cli.run.pages import reading_notes
from fedperm_cli.run.round_summary import summarise
from fedperm_cli.run.views import round_line
from fedperm_secret.sealed_reports import ReportPlace
from tests.aggregator.parties import KeyServer, ManualClock, document_of
from tests.cli.round_reports import round_report
from tests.documents.operator import IDENTITY

FROZEN = document_of(KeyServer(ManualClock(), {}))
RUN, DOCUMENT = FROZEN.content.run, FROZEN.sha256
MEASURED = Measured(test=TestMetrics(accuracy=0.75, loss=0.5))
SOMEBODY = OperatorIdentity.drawn(Random("somebody else"))


def sealed(client: str, number: int = 1, to: OperatorIdentity = IDENTITY) -> str:
    return ReportPlace(RUN, DOCUMENT, number, client).seal(MEASURED, to.sealing_text)


def round_with(**changes: Any) -> RoundReport:
    """Three clients, all of whose reports are sealed; `changes` are other texts, by client."""
    report = round_report(1, [None, None, None])
    texts = {client: sealed(client) for client in ("c0", "c1", "c2")} | changes
    reports = tuple(
        NamedReport(
            client=named.client,
            report=named.report.model_copy(
                update={"sealed": texts[named.client], "measured": None}
            ),
        )
        for named in report.reports
    )
    return report.model_copy(update={"reports": reports})


def test_all_that_was_sealed_to_the_operator_is_read():
    opened = ReportOpener.of(FROZEN, IDENTITY).open(round_with())
    assert [named.report.measured for named in opened.report.reports] == [MEASURED] * 3
    assert opened.complaints == ()
    summary = summarise(opened.report)
    assert (summary.accuracies, summary.sealed, summary.in_clear) == ((0.75,), 0, 0)
    assert list(reading_notes([summary])) == []


@pytest.mark.parametrize("identity", [None, SOMEBODY])
def test_without_the_operators_keys_it_stays_sealed_and_nothing_fails(identity):
    opened = ReportOpener.of(FROZEN, identity).open(round_with())
    assert opened.report == round_with_same(opened.report)
    assert opened.complaints == ()
    summary = summarise(opened.report)
    assert "test accuracy sealed" in round_line(summary)
    (note,) = reading_notes([summary])
    assert note == "what clients measured is sealed; give --run-operator-key-file (3 reports)"


def round_with_same(report: RoundReport) -> RoundReport:
    """No two seals are alike: the texts of the report itself."""
    return round_with(**{named.client: named.report.sealed for named in report.reports})


@pytest.mark.parametrize(
    "text",
    [
        sealed("c1")[:-5] + "AAAAA",
        sealed("c1", to=SOMEBODY),
        sealed("c1", number=2),
        sealed("c2"),
    ],
    ids=["changed", "for another operator", "of another round", "of another client"],
)
def test_a_report_that_does_not_open_is_told_of_and_spoils_no_other(text):
    opened = ReportOpener.of(FROZEN, IDENTITY).open(round_with(c1=text))
    assert opened.wrong == ("c1",)
    (complaint,) = opened.complaints
    assert complaint.startswith("round 1: the report of c1 does not open")
    summary = summarise(opened.report)
    assert (summary.accuracies, summary.reports, summary.sealed) == ((0.75,), 3, 0)


def test_reports_in_the_clear_are_told_of():
    summary = summarise(round_report(1, [0.5, 0.5]))
    assert summary.in_clear == 2
    (note,) = reading_notes([summary])
    assert note.startswith("2 reports came in the clear: row 1 does not hold")
