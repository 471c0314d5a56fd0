"""From what was seen to the figures, and whether they are good enough."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from experiments.load.summary import percentile
from experiments.rush.report import Endpoint, Lateness, Process, RushReport
from experiments.rush.setting import Setting
from experiments.rush.stopwatch import News, Seen, Timing
from experiments.rush.usage import Usage
from fedperm.ids import RoundNumber
from fedperm.web.stalls import Stall

LONG_POLL = "long poll"
"""Lasts as long as there is nothing to do: its time says nothing."""
STALL_LIMIT_SECONDS = 0.05
CONTROL_LIMIT_SECONDS = 0.5
MOST_FAILURES = 10
"""Kinds of failures that are told, the most frequent first."""

_STALLS = "fedperm_event_loop_longest_stall_seconds"


@dataclass(frozen=True)
class Told:
    """What the aggregator says at the end: POSIX times of published rounds, and its metrics."""

    published_at: Mapping[RoundNumber, float]
    metrics: str


def summarise(
    setting: Setting, crowd: Seen, onlooker: Seen, told: Told, usages: Mapping[str, Usage]
) -> RushReport:
    timings = [*crowd.timings, *onlooker.timings]
    seconds = _duration(timings)
    return RushReport(
        setting=setting,
        seconds=seconds,
        requests_per_second=len(timings) / seconds if seconds else 0.0,
        failed=sum(bool(timing.failure) for timing in timings),
        failures=_failures(timings),
        rounds_published=len(told.published_at),
        news=figures("told of a published round", _delays(crowd.news, told.published_at), 0),
        control=_endpoint("control endpoints", onlooker.timings),
        endpoints=_endpoints(timings),
        aggregator_stall=stall_in(told.metrics),
        crowd_lag=_lateness(crowd.lag),
        onlooker_lag=_lateness(onlooker.lag),
        processes=tuple(_process(name, usage) for name, usage in usages.items()),
    )


def shortcomings(report: RushReport) -> list[str]:
    """What is worse than promised; nothing, one hopes."""
    slow = report.control.p99 is None or report.control.p99 >= CONTROL_LIMIT_SECONDS
    tests = {
        f"{report.failed} requests failed": report.failed > 0,
        f"{report.rounds_published} of {report.setting.rounds} rounds were published": (
            report.rounds_published < report.setting.rounds
        ),
        f"control endpoints' p99 is not below {CONTROL_LIMIT_SECONDS} s": slow,
        f"the event loop was held up for {STALL_LIMIT_SECONDS} s or more": (
            report.aggregator_stall.own >= STALL_LIMIT_SECONDS
        ),
    }
    return [words for words, is_so in tests.items() if is_so]


def figures(name: str, seconds: Sequence[float], failed: int) -> Endpoint:
    """Without a time there are no percentiles."""
    return Endpoint(
        name=name,
        requests=len(seconds) + failed,
        failed=failed,
        p50=percentile(seconds, 50) if seconds else None,
        p99=percentile(seconds, 99) if seconds else None,
        longest=max(seconds, default=None),
    )


def stall_in(metrics: str) -> Lateness:
    """The longest since the aggregator began."""
    shares = {
        sample.labels["share"]: sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == _STALLS
    }
    return Lateness(all=shares["all"], own=shares["own"], loop=shares["loop"])


def _endpoints(timings: Iterable[Timing]) -> tuple[Endpoint, ...]:
    by_name: defaultdict[str, list[Timing]] = defaultdict(list)
    for timing in timings:
        by_name[timing.endpoint].append(timing)
    return tuple(_endpoint(name, found) for name, found in by_name.items())


def _endpoint(name: str, timings: Sequence[Timing]) -> Endpoint:
    """Times are of answers; how long a failure took says little."""
    answered = [timing.seconds for timing in timings if not timing.failure]
    failed = len(timings) - len(answered)
    if name == LONG_POLL:
        return Endpoint(name=name, requests=len(timings), failed=failed)
    return figures(name, answered, failed)


def _duration(timings: Sequence[Timing]) -> float:
    """From the first question to the last answer."""
    if not timings:
        return 0.0
    return max(t.at + t.seconds for t in timings) - min(t.at for t in timings)


def _delays(news: Iterable[News], published_at: Mapping[RoundNumber, float]) -> list[float]:
    """Both sides have the same clock. A round that was aborted is settled too, not published."""
    return [one.at - published_at[one.round] for one in news if one.round in published_at]


def _failures(timings: Iterable[Timing]) -> tuple[str, ...]:
    counted = Counter(f"{t.endpoint}: {t.failure}" for t in timings if t.failure)
    return tuple(f"{count} x {words}" for words, count in counted.most_common(MOST_FAILURES))


def _lateness(stall: Stall) -> Lateness:
    return Lateness(all=stall.all, own=stall.own, loop=stall.loop)


def _process(name: str, usage: Usage) -> Process:
    return Process(
        name=name,
        cpu_seconds=usage.cpu_seconds,
        peak_rss_bytes=usage.rss_bytes,
        peak_pss_bytes=usage.pss_bytes,
    )
