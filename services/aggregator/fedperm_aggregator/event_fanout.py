"""Reads the events as they are committed, and lets logs, metrics and waiting clients know.

They follow from what is in the database, so no place that changes it has to think of them.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from fedperm.ids import RunName
from fedperm.wire.events import EventKind
from fedperm_aggregator.metrics import AggregatorMetrics
from fedperm_aggregator.records import RunEvent
from fedperm_aggregator.stores.events import EventStore

log = logging.getLogger(__name__)

_NOISY = {EventKind.FOLD_PROGRESS, EventKind.CLIENT_REPORT}
_GRAVE = {EventKind.KEY_COMPROMISED, EventKind.RUN_FAILED, EventKind.ROUND_ABORTED}


class Watcher(Protocol):
    """Whoever else wants to know."""

    def observe(self, run_event: RunEvent) -> None: ...


class EventFanout:
    """Begins with what happens from now on: counters of a process start at 0."""

    def __init__(
        self, events: EventStore, metrics: AggregatorMetrics, watchers: Sequence[Watcher] = ()
    ) -> None:
        self._events = events
        self._metrics = metrics
        self._watchers = watchers
        self._read_to = events.newest()

    def read(self) -> set[RunName]:
        """The runs in which something happened."""
        changed: set[RunName] = set()
        while news := self._events.of_all(self._read_to):
            self._tell(news)
            self._read_to = news[-1].event.id
            changed |= {run_event.run for run_event in news}
        return changed

    def _tell(self, news: Sequence[RunEvent]) -> None:
        for run_event in news:
            self._metrics.observe(run_event.event)
            for watcher in self._watchers:
                watcher.observe(run_event)
            _log(run_event)


def _log(run_event: RunEvent) -> None:
    event = run_event.event
    level = logging.INFO
    if event.event in _NOISY:
        level = logging.DEBUG
    elif event.event in _GRAVE:
        level = logging.WARNING
    where = {"run": run_event.run, "round": event.round, "client": event.client}
    log.log(level, event.event, extra={**where, "details": event.details.model_dump(mode="json")})
