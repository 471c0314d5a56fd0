"""One round in a few numbers: who took part, what it gave, what it took."""

from dataclasses import dataclass
from statistics import mean

from fedperm.ids import RoundNumber
from fedperm.phase_seconds import PhaseSeconds, phase_seconds
from fedperm.wire.aggregator import RoundReport, RoundState, SubmissionState


@dataclass(frozen=True)
class RoundSummary:
    """`accuracies` are the different ones that clients reported: at most one if all agree. Of the
    `reports`, so many are `sealed` and were not opened, and so many came `in_clear`."""

    round: RoundNumber
    state: RoundState
    reason: str
    selected: int
    included: int
    rejected: int
    bounded: int
    reports: int
    sealed: int
    in_clear: int
    accuracies: tuple[float, ...]
    loss: float | None
    seconds: PhaseSeconds
    total_seconds: float | None
    bytes_up: int
    bytes_down: int

    @property
    def accuracy(self) -> float | None:
        """That of the clients if they agree."""
        return self.accuracies[0] if len(self.accuracies) == 1 else None


def summarise(report: RoundReport) -> RoundSummary:
    reports = [named.report for named in report.reports]
    tests = [said.test for said in reports if said.test is not None]
    states = [update.state for update in report.updates]
    return RoundSummary(
        round=report.outcome.round,
        state=report.outcome.state,
        reason=report.outcome.reason,
        selected=len(report.outcome.selected),
        included=len(report.outcome.included),
        rejected=states.count(SubmissionState.REJECTED),
        bounded=sum(update.bounded is True for update in report.updates),
        reports=len(reports),
        sealed=sum(said.sealed is not None and said.measured is None for said in reports),
        in_clear=sum(said.in_clear for said in reports),
        accuracies=tuple(sorted({test.accuracy for test in tests if test.accuracy is not None})),
        loss=mean(test.loss for test in tests) if tests else None,
        seconds=phase_seconds(report),
        total_seconds=None if report.settled_at is None else report.settled_at - report.opened_at,
        bytes_up=sum(said.bytes_up for said in reports),
        bytes_down=sum(said.bytes_down for said in reports),
    )
