"""How far a round is, and which rounds can be told of, from events alone."""

from dataclasses import dataclass, field, replace

from fedperm.wire.aggregator import Event, EventKind


@dataclass(frozen=True)
class RoundProgress:
    """The newest round: uploads of the selected clients in, checked, folded (in jobs)."""

    round: int
    selected: int
    stored: int = 0
    checked: int = 0
    folded: int = 0
    fold_jobs: int = 1

    def after(self, event: Event) -> "RoundProgress":
        match event.event:
            case EventKind.UPDATE_STORED:
                return replace(self, stored=self.stored + 1)
            case EventKind.UPDATE_CHECKED:
                return replace(self, checked=self.checked + 1)
            case EventKind.FOLD_PROGRESS if event.details["phase"] == "fold":
                done, total = event.details["done"], event.details["total"]
                return replace(self, folded=done, fold_jobs=total)
            case EventKind.ROUND_PUBLISHED:
                return replace(self, folded=self.fold_jobs)
            case _:
                return self


def progress_after(event: Event, before: RoundProgress | None) -> RoundProgress | None:
    if event.event == EventKind.ROUND_OPENED:
        return RoundProgress(event.round, len(event.details["selected"]))
    if before is None or event.round != before.round:
        return before
    return before.after(event)


@dataclass
class FinishedRounds:
    """Settled rounds, each told of once and in order: when all members of its sum have reported
    what it gave, or at the latest when the next one is settled."""

    _members: dict[int, set[str]] = field(default_factory=dict)
    _silent: dict[int, set[str]] = field(default_factory=dict)
    """By settled round that was not told of yet: members that have not reported."""

    @property
    def waiting(self) -> bool:
        return bool(self._silent)

    def take(self, event: Event) -> list[int]:
        """The rounds that can be told of now."""
        match event.event:
            case EventKind.ROUND_SEALED:
                self._members[event.round] = set(event.details["members"])
            case EventKind.ROUND_PUBLISHED:
                return [
                    *self.rest(),
                    *self._settle(self._members.pop(event.round, set()), event.round),
                ]
            case EventKind.ROUND_ABORTED:
                return [*self.rest(), *self._settle(set(), event.round)]
            case EventKind.CLIENT_REPORT if event.round in self._silent:
                return self._settle(self._silent[event.round] - {event.client}, event.round)
        return []

    def rest(self) -> list[int]:
        """Those of which nothing more is awaited."""
        rounds = sorted(self._silent)
        self._silent.clear()
        return rounds

    def _settle(self, silent: set[str], number: int) -> list[int]:
        self._silent[number] = silent
        return [] if silent else self.rest()
