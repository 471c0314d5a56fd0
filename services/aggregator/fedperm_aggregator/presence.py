"""Who is here now. In memory: a disk access for every heartbeat of every client would buy little.
`Attendance` saves it a few times a minute and for all clients at once, so that a restart does not
make everybody look absent."""

from collections.abc import Iterable
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.ids import NO_ROUND, ClientName, RoundNumber, RunName
from fedperm.wire.aggregator import Phase
from fedperm_aggregator.records import Sighting
from fedperm_aggregator.stores import Stores


@dataclass(frozen=True)
class Seen:
    """When a client was last heard of, and what it said it was doing."""

    at: float
    phase: Phase = Phase.IDLE
    round: RoundNumber = NO_ROUND


class Presence:
    def __init__(self, online_seconds: float) -> None:
        self._online_seconds = online_seconds
        self._seen: dict[tuple[RunName, ClientName], Seen] = {}
        self._unsaved: set[tuple[RunName, ClientName]] = set()

    def beat(self, run: RunName, client: ClientName, seen: Seen) -> None:
        self._seen[run, client] = seen
        self._unsaved.add((run, client))

    def heard(self, run: RunName, client: ClientName, now: float) -> None:
        """Any other request of the client: it says nothing about what it is doing."""
        known = self._seen.get((run, client), Seen(now))
        self.beat(run, client, Seen(now, known.phase, known.round))

    def last(self, run: RunName, client: ClientName) -> Seen | None:
        return self._seen.get((run, client))

    def is_online(self, run: RunName, client: ClientName, now: float) -> bool:
        """A time in the future is from before the clock was set back, and as old as it is far."""
        seen = self._seen.get((run, client))
        return seen is not None and abs(now - seen.at) <= self._online_seconds

    def online(self, now: float) -> int:
        """How many, in all runs together."""
        return sum(self.is_online(run, client, now) for run, client in list(self._seen))

    def load(self, sightings: Iterable[Sighting]) -> None:
        for sighting in sightings:
            self._seen[sighting.run, sighting.client] = Seen(sighting.at)

    def unsaved(self) -> list[Sighting]:
        """What came in since it was last asked."""
        keys, self._unsaved = self._unsaved, set()
        return [Sighting(run, client, self._seen[run, client].at) for run, client in keys.copy()]


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
