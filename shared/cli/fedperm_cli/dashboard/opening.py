"""Rounds as the operator's page reads them: opened with the run operator's key."""

from fedperm.dashboard.reading import Reading, ReadRound
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundReport
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener


def opening_with(identity: OperatorIdentity | None) -> Reading:
    """Without an identity, or with another operator's, reports stay sealed."""

    def read(document: FrozenDocument, report: RoundReport) -> ReadRound:
        opened = ReportOpener.of(document, identity).open(report)
        return ReadRound(opened.report, broken=len(opened.wrong))

    return read
