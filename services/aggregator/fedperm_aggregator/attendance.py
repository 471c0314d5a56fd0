"""Saves who was here, a few times a minute and for all clients at once."""

from fedperm.clock import Clock
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.stores import Stores

SAVE_SECONDS = 5.0


class Attendance:
    def __init__(self, stores: Stores, presence: Presence, clock: Clock) -> None:
        self._participants = stores.participants
        self._presence = presence
        self._clock = clock
        self._saved_at = clock.now()

    def load(self) -> None:
        """At the start: whoever was heard of shortly before is still taken to be here."""
        self._presence.load(self._participants.sightings())

    def save(self) -> None:
        now = self._clock.now()
        if abs(now - self._saved_at) >= SAVE_SECONDS:
            self._saved_at = now
            self._participants.save(self._presence.unsaved())
