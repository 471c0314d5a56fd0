"""Moves every run on: opens rounds, begins their phases, extends, aborts, completes."""

import logging
from collections.abc import Sequence
from random import Random

from fedperm.clock import Clock
from fedperm.ids import ClientName, RunName
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.records import Decision, RunView, Wait
from fedperm_aggregator.rounds.rules import decide
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores

log = logging.getLogger(__name__)

_MOST_STEPS = 4
"""Of one run at a time: an abort, say, and the next opening."""


class Scheduler:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        presence: Presence,
        clock: Clock,
        randomness: Random,
    ) -> None:
        self._stores = stores
        self._documents = documents
        self._presence = presence
        self._clock = clock
        self._randomness = randomness
        self._stuck: dict[RunName, str] = {}

    def move_all(self) -> None:
        """One that cannot be moved does not hold up the others."""
        for run in self._stores.runs.unfinished():
            try:
                self._move(run)
                self._stuck.pop(run, None)
            except Exception as error:
                self._note(run, error)

    def _note(self, run: RunName, error: Exception) -> None:
        """Said once, not at every tick, while it lasts."""
        trouble = type(error).__name__
        if self._stuck.get(run) != trouble:
            self._stuck[run] = trouble
            log.error("run %s cannot go on for now", run, exc_info=error)

    def _move(self, run: RunName) -> None:
        for _ in range(_MOST_STEPS):
            if isinstance(self.step(run), Wait):
                return

    def step(self, run: RunName) -> Decision:
        """One decision, taken and carried out."""
        now = self._clock.now()
        rules, phases = self._documents.of(run).content.rounds, self._documents.phases(run)

        def is_online(client: ClientName) -> bool:
            return self._presence.is_online(run, client, now)

        def choose(view: RunView) -> Decision:
            return decide(view, phases, rules, now, lambda who, n: select(who, n, self._randomness))

        return self._stores.rounds.advance(run, is_online, choose, now)


def select(online: Sequence[ClientName], count: int, randomness: Random) -> tuple[ClientName, ...]:
    """A uniform draw of `count` clients, all if there are fewer; in the order of their names, which
    says nothing about the draw."""
    ordered = sorted(set(online))
    return tuple(sorted(randomness.sample(ordered, min(count, len(ordered)))))
