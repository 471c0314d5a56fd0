"""Who is here now. In memory only: after a restart a client is heard of within seconds, and a
disk access for every heartbeat of every client would buy nothing."""

from dataclasses import dataclass

from fedperm.wire.aggregator import Phase


@dataclass(frozen=True)
class Seen:
    """When a client was last heard of, and what it said it was doing."""

    at: float
    phase: Phase = Phase.IDLE
    round: int = 0


class Presence:
    def __init__(self, online_seconds: float) -> None:
        self._online_seconds = online_seconds
        self._seen: dict[tuple[str, str], Seen] = {}

    def beat(self, run: str, client: str, seen: Seen) -> None:
        self._seen[run, client] = seen

    def heard(self, run: str, client: str, now: float) -> None:
        """Any other request of the client: it says nothing about what it is doing."""
        known = self._seen.get((run, client), Seen(now))
        self._seen[run, client] = Seen(now, known.phase, known.round)

    def last(self, run: str, client: str) -> Seen | None:
        return self._seen.get((run, client))

    def is_online(self, run: str, client: str, now: float) -> bool:
        """A time in the future is from before the clock was set back, and as old as it is far."""
        seen = self._seen.get((run, client))
        return seen is not None and abs(now - seen.at) <= self._online_seconds

    def online(self, now: float) -> int:
        """How many, in all runs together."""
        return sum(self.is_online(run, client, now) for run, client in list(self._seen))
