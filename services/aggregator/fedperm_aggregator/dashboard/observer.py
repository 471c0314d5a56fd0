"""What a page does not know yet. Used by one page, in one thread at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.wire.aggregator import RoundReport
from fedperm.wire.events import Event, FoldAdvanced
from fedperm.wire.message import Message
from fedperm_aggregator.dashboard.presenter import (
    Fold,
    client_view,
    key_view,
    privacy_view,
    progress,
    summarise,
)
from fedperm_aggregator.dashboard.views import Key, Now, RoundsNews
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.rounds.results import Rounds
from fedperm_aggregator.run_documents import RunDocuments, epoch_record
from fedperm_aggregator.runs import Runs
from fedperm_aggregator.stores import Stores

MOST_ROUNDS = 500
"""A page begins with the newest ones: all rounds of a long run would take minutes to tell."""


@dataclass(frozen=True)
class Sources:
    """Where everything on the page comes from."""

    stores: Stores
    documents: RunDocuments
    runs: Runs
    rounds: Rounds
    participants: Participants
    clock: Clock

    def key(self, run: RunName, epoch: EpochNumber) -> Key | None:
        if epoch == 0:
            return None
        document = self.documents.of(run).content
        record = epoch_record(self.stores.runs.epoch(run, epoch), document)
        return key_view(record, document.key.signing_key)


class Observer:
    def __init__(self, sources: Sources, run: RunName, after: int) -> None:
        """`after` is the position of a page that was here before, else 0."""
        self._sources = sources
        self._run = run
        self._fold: Fold | None = None
        self._seen: Now | None = None
        self.position = after

    def look(self) -> Iterator[tuple[str, Message]]:
        """Rounds that have changed, then the present if it is another."""
        reports = self._everything() if self.position == 0 else self._changed()
        if reports:
            yield "rounds", RoundsNews(rounds=tuple(map(summarise, reports)))
        now = self._now()
        if now != self._seen:
            self._seen = now
            yield "now", now

    def _everything(self) -> tuple[RoundReport, ...]:
        """The position first: what happens meanwhile is told twice rather than never."""
        self.position = self._sources.stores.events.newest()
        newest = self._sources.runs.status(self._run).round
        return self._reports(map(RoundNumber, range(max(1, newest - MOST_ROUNDS + 1), newest + 1)))

    def _changed(self) -> tuple[RoundReport, ...]:
        numbers: set[RoundNumber] = set()
        while news := self._sources.stores.events.of_run(self._run, self.position):
            numbers |= {event.round for event in news if event.round}
            self.position = news[-1].id
            for event in news:
                self._note(event)
        return self._reports(sorted(numbers))

    def _reports(self, numbers: Iterable[RoundNumber]) -> tuple[RoundReport, ...]:
        return tuple(self._sources.rounds.report(self._run, number) for number in numbers)

    def _note(self, event: Event) -> None:
        if isinstance(event.details, FoldAdvanced):
            fold = event.details
            self._fold = Fold(event.round, fold.phase, fold.done, fold.total)

    def _now(self) -> Now:
        s, run, at = self._sources, self._run, self._sources.clock.now()
        status = s.runs.status(run)
        newest = self._newest(status.round)
        epoch = status.epoch if newest is None else newest.outcome.epoch
        return Now(
            status=status,
            progress=progress(status, newest, self._fold),
            deadline_at=newest.deadline_at if newest is not None and newest.collects else None,
            clients=tuple(client_view(who, newest, at) for who in s.participants.all(run)),
            key=s.key(run, epoch),
            privacy=privacy_view(s.documents.of(run).content, status.round),
        )

    def _newest(self, number: RoundNumber) -> RoundReport | None:
        return self._sources.rounds.report(self._run, number) if number else None
