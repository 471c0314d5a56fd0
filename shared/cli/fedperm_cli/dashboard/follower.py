"""What a run's events say to a page: which rounds have changed since it looked."""

import asyncio
from collections.abc import Callable

from fedperm.dashboard.source import Changes, Fold
from fedperm.ids import RoundNumber, RunName
from fedperm_cli.run.event_stream import events_of
from fedperm_cli.servers.sessions import RunOperator


class Follower:
    """Hears the events of one run, over as many connections as it takes, and keeps of each round
    only when it was last spoken of: as much memory as a run has rounds, not events."""

    def __init__(self, operator: RunOperator, run: RunName, announce: Callable[[], None]) -> None:
        self._operator = operator
        self._run = run
        self._announce = announce
        self._last: dict[RoundNumber, int] = {}
        self._fold: Fold | None = None
        self._listening: asyncio.Task[None] | None = None
        self.position = 0

    def listen(self) -> None:
        """Where it left off, if the aggregator was away for so long that it gave up."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())

    async def stop(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    def changes(self, after: int) -> Changes:
        rounds = frozenset(number for number, heard in self._last.items() if heard > after)
        return Changes(self.position, rounds, self._fold)

    async def _listen(self) -> None:
        async for event in events_of(self._operator, self._run, self.position):
            self.position = event.id
            if event.round:
                self._last[event.round] = event.id
            self._fold = Fold.told_by(event) or self._fold
            self._announce()
