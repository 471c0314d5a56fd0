"""Where everything on the page comes from: an aggregator's own stores, or its interface."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RunStatus
from fedperm.wire.events import Event, FoldAdvanced
from fedperm.wire.statements import EpochRecord


@dataclass(frozen=True)
class Fold:
    """How far the fold of a round was when it was last heard of."""

    round: RoundNumber
    phase: str
    done: int
    total: int

    @classmethod
    def told_by(cls, event: Event) -> "Fold | None":
        """None if the event is about something else."""
        if not isinstance(event.details, FoldAdvanced):
            return None
        fold = event.details
        return cls(event.round, fold.phase, fold.done, fold.total)


@dataclass(frozen=True)
class Changes:
    """What has happened to a run since somebody looked. `position` is where to go on, `fold` is
    None if nothing was heard of one."""

    position: int
    rounds: frozenset[RoundNumber] = frozenset()
    fold: Fold | None = None


class RunSource(Protocol):
    """`document` and `status` refuse a run that does not exist; nothing else is asked of it then.
    Positions are those of events: they grow, and a page that lost its connection goes on from the
    last one that it was told."""

    async def runs(self) -> Sequence[RunStatus]: ...

    async def document(self, run: RunName) -> FrozenDocument: ...

    async def status(self, run: RunName) -> RunStatus: ...

    async def participants(self, run: RunName) -> Sequence[ParticipantStatus]: ...

    async def epoch(self, run: RunName, number: EpochNumber) -> EpochRecord:
        """Signed by the key server that the run's document names."""
        ...

    async def rounds(
        self, run: RunName, numbers: Sequence[RoundNumber]
    ) -> Sequence[RoundReport]: ...

    async def position(self, run: RunName) -> int:
        """Nothing after it has been told; what was before may be told once more."""
        ...

    async def changes(self, run: RunName, after: int) -> Changes: ...
