"""Prometheus metrics of rounds and updates, counted from the events."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from fedperm.wire.aggregator import Event, EventKind

_ROUND_STATES = {
    EventKind.ROUND_OPENED: "opened",
    EventKind.ROUND_SEALED: "sealed",
    EventKind.ROUND_PUBLISHED: "published",
    EventKind.ROUND_ABORTED: "aborted",
}
_PHASES = {EventKind.ROUND_SEALED: "open", EventKind.ROUND_PUBLISHED: "fold"}
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)


class AggregatorMetrics:
    """No names of runs or clients as labels: their number has no limit."""

    def __init__(self, registry: CollectorRegistry, online: Callable[[], int]) -> None:
        self._updates = Counter(
            "fedperm_updates", "Updates that reached a state", ["state"], registry=registry
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
            "fedperm_upload_bytes", "Octets of stored updates", registry=registry
        )
        self._failures = Counter(
            "fedperm_job_failures", "Failed attempts of jobs", ["kind"], registry=registry
        )
        Gauge(
            "fedperm_participants_online", "Clients heard of lately", registry=registry
        ).set_function(online)

    def observe(self, event: Event) -> None:
        kind = EventKind(event.event)
        if kind in _ROUND_STATES:
            self._rounds.labels(_ROUND_STATES[kind]).inc()
        if kind in _PHASES:
            self._phases.labels(_PHASES[kind]).observe(event.details["seconds"])
        if kind is EventKind.UPDATE_STORED:
            self._updates.labels("stored").inc()
            self._upload_bytes.inc(event.details["size"])
        elif kind is EventKind.UPDATE_CHECKED:
            self._updates.labels(event.details["state"]).inc()
        elif kind is EventKind.ROUND_PUBLISHED:
            self._updates.labels("included").inc(event.details["contributors"])
        elif kind is EventKind.ROUND_ABORTED:
            self._updates.labels("dropped").inc(event.details["dropped"])
        elif kind is EventKind.JOB_FAILED:
            self._failures.labels(event.details["kind"]).inc()
