"""The runs of this aggregator as its own page shows them, read from its stores."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from fedperm.dashboard.source import Changes, Fold
from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RunStatus
from fedperm.wire.statements import EpochRecord
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.rounds.results import Rounds
from fedperm_aggregator.run_documents import RunDocuments, epoch_record
from fedperm_aggregator.runs import Runs
from fedperm_aggregator.stores import Stores


@dataclass(frozen=True)
class OwnRuns:
    """A `RunSource`. Every look is in a thread: it takes the database."""

    stores: Stores
    documents: RunDocuments
    of_runs: Runs
    of_rounds: Rounds
    who: Participants

    async def runs(self) -> Sequence[RunStatus]:
        return await asyncio.to_thread(self.of_runs.all)

    async def document(self, run: RunName) -> FrozenDocument:
        return await asyncio.to_thread(self.documents.of, run)

    async def status(self, run: RunName) -> RunStatus:
        return await asyncio.to_thread(self.of_runs.status, run)

    async def participants(self, run: RunName) -> Sequence[ParticipantStatus]:
        return await asyncio.to_thread(self.who.all, run)

    async def epoch(self, run: RunName, number: EpochNumber) -> EpochRecord:
        return await asyncio.to_thread(self._epoch, run, number)

    async def rounds(self, run: RunName, numbers: Sequence[RoundNumber]) -> Sequence[RoundReport]:
        return await asyncio.to_thread(self._reports, run, numbers)

    async def position(self, run: RunName) -> int:  # noqa: ARG002 (events of all runs are in one line)
        return await asyncio.to_thread(self.stores.events.newest)

    async def changes(self, run: RunName, after: int) -> Changes:
        return await asyncio.to_thread(self._changes, run, after)

    def _epoch(self, run: RunName, number: EpochNumber) -> EpochRecord:
        return epoch_record(self.stores.runs.epoch(run, number), self.documents.of(run).content)

    def _reports(self, run: RunName, numbers: Sequence[RoundNumber]) -> Sequence[RoundReport]:
        return [self.of_rounds.report(run, number) for number in numbers]

    def _changes(self, run: RunName, after: int) -> Changes:
        rounds: set[RoundNumber] = set()
        fold: Fold | None = None
        while news := self.stores.events.of_run(run, after):
            rounds |= {event.round for event in news if event.round}
            for event in news:
                fold = Fold.told_by(event) or fold
            after = news[-1].id
        return Changes(after, frozenset(rounds), fold)
