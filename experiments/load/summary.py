"""From what the aggregator and Docker tell to the figures of a load test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from experiments.load.errors import LoadError
from experiments.load.interface import Told
from experiments.load.refusals import refusals_in
from experiments.load.report import ClientFigures, Failures, LoadReport, RoundTimes, Spread
from experiments.load.setting import Setting
from experiments.load.usage import Sample, usage_of
from fedperm.wire.aggregator import (
    AggregatorSeconds,
    ClientReport,
    ClientSeconds,
    RoundReport,
    RoundState,
    SubmissionState,
)


@dataclass(frozen=True)
class Ending:
    """How a container ended: `exit_code` is None while it runs."""

    exit_code: int | None
    restarts: int

    @property
    def is_failure(self) -> bool:
        return self.exit_code != 0 or self.restarts > 0


@dataclass(frozen=True)
class Endings:
    """Servers still run."""

    operator: Ending
    clients: tuple[Ending, ...]
    servers: tuple[Ending, ...]


@dataclass(frozen=True)
class Watched:
    """Samples of the aggregator, and of one client."""

    aggregator: Sequence[Sample]
    one_client: Sequence[Sample]


def percentile(values: Sequence[float], percent: float) -> float:
    """Linear between neighbours: the 50th is the median."""
    return float(np.percentile(values, percent))


def summarise(setting: Setting, told: Told, endings: Endings, watched: Watched) -> LoadReport:
    published = [report for report in told.rounds if report.outcome.state is RoundState.PUBLISHED]
    reports = [named.report for report in published for named in report.reports]
    times = [_times_of(report) for report in published]
    _check_watched_to_the_end(watched.aggregator, times)
    return LoadReport(
        setting=setting,
        rounds_per_minute=_rounds_per_minute(times),
        clients=_of_clients(reports) if reports else None,
        aggregator_seconds=_of_aggregator(published) if published else None,
        aggregator=usage_of(watched.aggregator),
        one_client=usage_of(watched.one_client),
        failures=_failures(setting, told.rounds, endings),
        refusals=refusals_in(told.metrics),
        rounds=tuple(times),
        samples=tuple(watched.aggregator),
    )


def _check_watched_to_the_end(samples: Sequence[Sample], rounds: Sequence[RoundTimes]) -> None:
    """Samples end with the container: what came after it is not in them."""
    if rounds and samples and samples[-1].at < rounds[-1].published_at:
        raise LoadError(
            "the aggregator's container ended before the last round was published",
            "it was stopped or replaced: see the log, and measure again",
        )


def _times_of(report: RoundReport) -> RoundTimes:
    """A published round has both times."""
    return RoundTimes(
        opened_at=report.opened_at,
        sealed_at=report.sealed_at or report.opened_at,
        published_at=report.settled_at or report.opened_at,
        upload_seconds=tuple(named.report.seconds.upload for named in report.reports),
    )


def _rounds_per_minute(rounds: Sequence[RoundTimes]) -> float:
    """From the first opening to the last publication."""
    if not rounds:
        return 0.0
    return 60 * len(rounds) / (rounds[-1].published_at - rounds[0].opened_at)


def _of_clients(reports: Sequence[ClientReport]) -> ClientFigures:
    def typical(phase: Callable[[ClientSeconds], float]) -> float:
        return median(phase(report.seconds) for report in reports)

    uploads = [report.seconds.upload for report in reports]
    return ClientFigures(
        seconds=ClientSeconds(
            train=typical(lambda s: s.train),
            randomize=typical(lambda s: s.randomize),
            encrypt=typical(lambda s: s.encrypt),
            upload=typical(lambda s: s.upload),
            decrypt=typical(lambda s: s.decrypt),
        ),
        upload=Spread(
            p50=percentile(uploads, 50), p99=percentile(uploads, 99), largest=max(uploads)
        ),
        bytes_up=fmean(report.bytes_up for report in reports),
        bytes_down=fmean(report.bytes_down for report in reports),
    )


def _of_aggregator(rounds: Sequence[RoundReport]) -> AggregatorSeconds:
    def typical(phase: Callable[[AggregatorSeconds], float]) -> float:
        return median(phase(report.seconds) for report in rounds)

    return AggregatorSeconds(
        open=typical(lambda s: s.open),
        fold=typical(lambda s: s.fold),
        validation_cpu=typical(lambda s: s.validation_cpu),
        folding_cpu=typical(lambda s: s.folding_cpu),
        rerandomising_cpu=typical(lambda s: s.rerandomising_cpu),
    )


def _failures(setting: Setting, rounds: Sequence[RoundReport], endings: Endings) -> Failures:
    states = [update.state for report in rounds for update in report.updates]
    rejected = states.count(SubmissionState.REJECTED)
    wanted = setting.clients * setting.rounds
    never_started = setting.clients - len(endings.clients)
    return Failures(
        rejected_uploads=rejected,
        missing_uploads=wanted - states.count(SubmissionState.INCLUDED) - rejected,
        aborted_rounds=sum(report.outcome.state is RoundState.ABORTED for report in rounds),
        failed_clients=sum(ending.is_failure for ending in endings.clients) + never_started,
        failed_operator=int(endings.operator.is_failure),
        failed_servers=sum(ending.restarts > 0 for ending in endings.servers),
    )
