"""Prometheus metrics of rounds and submissions, counted from the events."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from fedperm.submissions import SUBMISSIONS
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.events import (
    Event,
    EventKind,
    JobFailed,
    KeyCompromised,
    RoundAborted,
    RoundPublished,
    RoundSealed,
    SubmissionChecked,
    SubmissionStored,
)
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import JobKind

_RUN_STATES = {
    EventKind.RUN_CREATED: "created",
    EventKind.RUN_STOPPED: "stopped",
    EventKind.RUN_RESUMED: "resumed",
    EventKind.RUN_COMPLETED: "completed",
    EventKind.RUN_FAILED: "failed",
}
_ROUND_STATES = {
    EventKind.ROUND_OPENED: "opened",
    EventKind.ROUND_SEALED: "sealed",
    EventKind.ROUND_PUBLISHED: "published",
    EventKind.ROUND_ABORTED: "aborted",
}
_PHASES = ("open", "fold")
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)


class AggregatorMetrics:
    """No names of runs or clients as labels: their number has no limit.

    All others are there from the start, at 0: Prometheus takes the first value of a counter for
    no increase, and nobody would be alerted of the first aborted round.
    """

    def __init__(self, registry: CollectorRegistry, online: Callable[[], int]) -> None:
        self._runs = Counter(
            "fedperm_runs", "Runs that reached a state", ["state"], registry=registry
        )
        self._submissions = Counter(
            "fedperm_submissions",
            "Submissions of clients that reached a state, by kind",
            ["kind", "state"],
            registry=registry,
        )
        self._rounds = Counter(
            "fedperm_rounds", "Rounds that reached a state", ["state"], registry=registry
        )
        self._phases = Histogram(
            "fedperm_round_phase_seconds",
            "Duration of a round's phases: open until sealed, fold until published",
            ["phase"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._upload_bytes = Counter(
            "fedperm_upload_bytes", "Octets of stored submissions", registry=registry
        )
        self._failures = Counter(
            "fedperm_job_failures", "Failed attempts of jobs", ["kind"], registry=registry
        )
        self._compromises = Counter(
            "fedperm_key_compromises", "Updates that gave the secret key away", registry=registry
        )
        Gauge(
            "fedperm_participants_online", "Clients heard of lately", registry=registry
        ).set_function(online)
        _begin(self._runs, _RUN_STATES.values())
        _begin(self._rounds, _ROUND_STATES.values())
        _begin(self._phases, _PHASES)
        for submission in SUBMISSIONS.names:
            for state in SubmissionState:
                self._submissions.labels(submission, state)
        _begin(self._failures, JobKind)

    def observe(self, event: Event) -> None:
        kind = EventKind(event.event)
        if kind in _RUN_STATES:
            self._runs.labels(_RUN_STATES[kind]).inc()
        if kind in _ROUND_STATES:
            self._rounds.labels(_ROUND_STATES[kind]).inc()
        match event.details:
            case RoundSealed(seconds=seconds):
                self._phases.labels("open").observe(seconds)
            case RoundPublished(seconds=seconds, contributors=contributors):
                self._phases.labels("fold").observe(seconds)
                self._submissions.labels(UPDATE_KIND, "included").inc(contributors)
            case RoundAborted(dropped=dropped):
                self._submissions.labels(UPDATE_KIND, "dropped").inc(dropped)
            case SubmissionStored(kind=submission, size=size):
                self._submissions.labels(submission, "stored").inc()
                self._upload_bytes.inc(size)
            case SubmissionChecked(kind=submission, state=state):
                self._submissions.labels(submission, state).inc()
            case JobFailed(kind=failed):
                self._failures.labels(failed).inc()
            case KeyCompromised():
                self._compromises.inc()


def _begin(metric: Counter | Histogram, labels: Iterable[str]) -> None:
    for label in labels:
        metric.labels(label)
