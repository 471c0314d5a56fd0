"""What a page does not know yet. Used by one page, one look at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from fedperm.clock import Clock
from fedperm.dashboard.presenter import (
    client_view,
    key_view,
    privacy_view,
    progress,
    summarise,
)
from fedperm.dashboard.reading import Reading
from fedperm.dashboard.source import Fold, RunSource
from fedperm.dashboard.views import Key, Now, Round, RoundsNews
from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.message import Message

MOST_ROUNDS = 500
"""A page begins with the newest ones: all rounds of a long run would take minutes to tell."""


class Observer:
    def __init__(
        self, source: RunSource, reading: Reading, clock: Clock, run: RunName, after: int
    ) -> None:
        """`after` is the position of a page that was here before, else 0."""
        self._source = source
        self._reading = reading
        self._clock = clock
        self._run = run
        self._is_new = after == 0
        self._fold: Fold | None = None
        self._seen: Now | None = None
        self.position = after

    async def look(self) -> AsyncIterator[tuple[str, Message]]:
        """Rounds that have changed, then the present if it is another."""
        numbers = await self._everything() if self._is_new else await self._changed()
        self._is_new = False
        if reports := await self._source.rounds(self._run, numbers):
            document = await self._source.document(self._run)
            summaries = await asyncio.to_thread(self._summaries, document, reports)
            yield "rounds", RoundsNews(rounds=summaries)
        now = await self._now()
        if now != self._seen:
            self._seen = now
            yield "now", now

    def _summaries(
        self, document: FrozenDocument, reports: Sequence[RoundReport]
    ) -> tuple[Round, ...]:
        """In a thread: a long run has thousands of reports to open."""
        return tuple(summarise(self._reading(document, report)) for report in reports)

    async def _everything(self) -> Sequence[RoundNumber]:
        """The position first: what happens meanwhile is told twice rather than never."""
        self.position = await self._source.position(self._run)
        newest = (await self._source.status(self._run)).round
        return [RoundNumber(n) for n in range(max(1, newest - MOST_ROUNDS + 1), newest + 1)]

    async def _changed(self) -> Sequence[RoundNumber]:
        changes = await self._source.changes(self._run, self.position)
        self.position = changes.position
        self._fold = changes.fold or self._fold
        return sorted(changes.rounds)

    async def _now(self) -> Now:
        source, run, at = self._source, self._run, self._clock.now()
        status = await source.status(run)
        newest = await self._newest(status.round)
        document = (await source.document(run)).content
        return Now(
            status=status,
            progress=progress(status, newest, self._fold),
            deadline_at=newest.deadline_at if newest is not None and newest.collects else None,
            clients=tuple(client_view(who, newest, at) for who in await source.participants(run)),
            key=await self._key(status.epoch if newest is None else newest.outcome.epoch),
            privacy=privacy_view(document, status.round),
        )

    async def _newest(self, number: RoundNumber) -> RoundReport | None:
        reports = await self._source.rounds(self._run, [number] if number else [])
        return reports[0] if reports else None

    async def _key(self, epoch: EpochNumber) -> Key | None:
        if epoch == 0:
            return None
        document = (await self._source.document(self._run)).content
        record = await self._source.epoch(self._run, epoch)
        return key_view(record, document.key.signing_key)
