"""Clients' reports as the run operator reads them: what is sealed to the operator, opened.

The aggregator hands on rounds with sealed reports. An opened round is the same round, with what
clients measured in its place: whoever shows rounds shows either.
"""

from dataclasses import dataclass

from fedperm.errors import UntrustedError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import NamedReport, RoundReport
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_secret.sealed_reports import ReportPlace

NO_KEYS = "sealed; give --run-operator-key-file"


@dataclass(frozen=True)
class OpenedRound:
    """`wrong`: clients whose reports do not open with the operator's keys; nothing of what they
    measured is in `report`. What was sent in the clear stays as it is."""

    report: RoundReport
    wrong: tuple[ClientName, ...]

    @property
    def complaints(self) -> tuple[str, ...]:
        number = self.report.outcome.round
        return tuple(
            f"round {number}: the report of {client} does not open: it was changed on its way, or "
            "never sealed to this operator"
            for client in self.wrong
        )


@dataclass(frozen=True)
class ReportOpener:
    """Of one run; without an identity reports stay sealed."""

    run: RunName
    document: str
    identity: OperatorIdentity | None

    @classmethod
    def of(cls, frozen: FrozenDocument, identity: OperatorIdentity | None) -> "ReportOpener":
        """With the operator's keys if they are those of the run's document: another operator's
        would open nothing."""
        named = frozen.content.operator
        is_theirs = identity is not None and named == identity.keys
        return cls(frozen.content.run, frozen.sha256, identity if is_theirs else None)

    def open(self, report: RoundReport) -> OpenedRound:
        if self.identity is None:
            return OpenedRound(report, ())
        reports: list[NamedReport] = []
        wrong: list[ClientName] = []
        for named in report.reports:
            try:
                reports.append(self._opened(named, report.outcome.round, self.identity))
            except UntrustedError:
                wrong.append(named.client)
                reports.append(_told(named, sealed=None))
        return OpenedRound(report.model_copy(update={"reports": tuple(reports)}), tuple(wrong))

    def _opened(
        self, named: NamedReport, number: RoundNumber, identity: OperatorIdentity
    ) -> NamedReport:
        if named.report.sealed is None:
            return named
        place = ReportPlace(self.run, self.document, number, named.client)
        measured = place.open(named.report.sealed, identity.sealing)
        return _told(named, measured=measured, seconds=measured.seconds or named.report.seconds)


def _told(named: NamedReport, **changes: object) -> NamedReport:
    return NamedReport(client=named.client, report=named.report.model_copy(update=changes))
