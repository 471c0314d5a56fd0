"""How far a round is, and which rounds can be told of, from events alone."""

from dataclasses import dataclass, field, replace

from fedperm.ids import ClientName, RoundNumber
from fedperm.wire import statements
from fedperm.wire.events import (
    ClientReported,
    Event,
    FoldAdvanced,
    RoundAborted,
    RoundOpened,
    RoundPublished,
    RoundSealed,
    SubmissionChecked,
    SubmissionStored,
)


@dataclass(frozen=True)
class RoundProgress:
    """The newest round: uploads of the selected clients in, checked, folded (in jobs)."""

    round: RoundNumber
    selected: int
    stored: int = 0
    checked: int = 0
    folded: int = 0
    fold_jobs: int = 1

    def after(self, event: Event) -> "RoundProgress":
        match event.details:
            case SubmissionStored(kind=statements.UPDATE_KIND):
                return replace(self, stored=self.stored + 1)
            case SubmissionChecked(kind=statements.UPDATE_KIND):
                return replace(self, checked=self.checked + 1)
            case FoldAdvanced(phase="fold", done=done, total=total):
                return replace(self, folded=done, fold_jobs=total)
            case RoundPublished():
                return replace(self, folded=self.fold_jobs)
            case _:
                return self


def progress_after(event: Event, before: RoundProgress | None) -> RoundProgress | None:
    if isinstance(event.details, RoundOpened):
        return RoundProgress(event.round, len(event.details.selected))
    if before is None or event.round != before.round:
        return before
    return before.after(event)


@dataclass
class FinishedRounds:
    """Settled rounds, each told of once and in order: when all members of its sum have reported
    what it gave, or at the latest when the next one is settled."""

    _members: dict[RoundNumber, set[ClientName]] = field(default_factory=dict)
    _silent: dict[RoundNumber, set[ClientName]] = field(default_factory=dict)
    """By settled round that was not told of yet: members that have not reported."""

    @property
    def waiting(self) -> bool:
        return bool(self._silent)

    def take(self, event: Event) -> list[RoundNumber]:
        """The rounds that can be told of now."""
        match event.details:
            case RoundSealed(members=members):
                self._members[event.round] = set(members)
            case RoundPublished():
                return [
                    *self.rest(),
                    *self._settle(self._members.pop(event.round, set()), event.round),
                ]
            case RoundAborted():
                return [*self.rest(), *self._settle(set(), event.round)]
            case ClientReported() if event.round in self._silent:
                return self._settle(self._silent[event.round] - {event.client}, event.round)
        return []

    def rest(self) -> list[RoundNumber]:
        """Those of which nothing more is awaited."""
        rounds = sorted(self._silent)
        self._silent.clear()
        return rounds

    def _settle(self, silent: set[ClientName], number: RoundNumber) -> list[RoundNumber]:
        self._silent[number] = silent
        return [] if silent else self.rest()
