"""A round's report in a few numbers, for charts."""

from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median_low

from fedperm.phase_seconds import phase_seconds
from fedperm.wire.aggregator import (
    NamedReport,
    RoundReport,
    RoundState,
    SubmissionState,
)
from fedperm_aggregator.dashboard.views import Ledgers, Round, Standing, Trouble

MOST_TROUBLES = 20
"""Of a round, on a page: when hundreds are missing, their names say little."""


def summarise(report: RoundReport) -> Round:
    outcome, said = report.outcome, [named.report for named in report.reports]
    tests = [one.test for one in said if one.test is not None]
    accuracies = [test.accuracy for test in tests if test.accuracy is not None]
    return Round(
        number=outcome.round,
        state=outcome.state,
        reason=outcome.reason,
        epoch=outcome.epoch,
        selected=len(outcome.selected),
        received=len(report.updates),
        measured=sum(update.norm_before is not None for update in report.updates),
        included=len(outcome.included),
        rejected=sum(update.state is SubmissionState.REJECTED for update in report.updates),
        bounded=sum(update.bounded is True for update in report.updates),
        reports=len(said),
        accuracy=median_low(accuracies) if accuracies else None,
        accuracy_low=min(accuracies, default=None),
        accuracy_high=max(accuracies, default=None),
        loss=median_low(test.loss for test in tests) if tests else None,
        seconds=phase_seconds(report),
        total_seconds=None if report.settled_at is None else report.settled_at - report.opened_at,
        bytes_up=sum(update.size for update in report.updates),
        bytes_down=sum(one.bytes_down for one in said),
        ledgers=_ledgers(report.reports),
        troubles=tuple(islice(_troubles(report), MOST_TROUBLES)),
    )


def _ledgers(reports: Sequence[NamedReport]) -> Ledgers | None:
    kept = [(named.client, named.report.ledger) for named in reports]
    counted = [(client, ledger) for client, ledger in kept if ledger is not None]
    if not counted:
        return None
    client, ledger = max(
        counted, key=lambda one: one[1].epsilon / one[1].budget if one[1].budget else 0.0
    )
    return Ledgers(clients=len(counted), client=client, **ledger.model_dump())


def _troubles(report: RoundReport) -> Iterator[Trouble]:
    """First those left out for a reason of their own, then those of whom nothing came before the
    round was sealed."""
    left_out = {
        SubmissionState.REJECTED: Standing.REJECTED,
        SubmissionState.DROPPED: Standing.DROPPED,
    }
    for update in report.updates:
        if update.reason and update.state in left_out:
            standing = left_out[update.state]
            yield Trouble(client=update.client, standing=standing, reason=update.reason)
    if report.outcome.state is not RoundState.OPEN:
        came = {update.client for update in report.updates}
        for client in report.outcome.selected:
            if client not in came:
                yield Trouble(client=client, standing=Standing.MISSED, reason="")
