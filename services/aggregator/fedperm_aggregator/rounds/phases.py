"""The phases of a round: what each asks of which client, when it ends, and what it keeps.

A round passes the phases that the axes of the run's document choose. Updates are collected and
folded in every round; further phases are registered, each with the one that it follows: clients
confirm what they applied, or send their parts of a decryption.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from fedperm.errors import ParameterError
from fedperm.ids import ClientName
from fedperm.registry import Registry
from fedperm.run_document import RoundsSpec, RunDocument
from fedperm.submissions import UPDATE, SubmissionKind
from fedperm.wire.aggregator import RoundState, TaskKind
from fedperm_aggregator.records import (
    Abort,
    BegunPhase,
    Extend,
    JobKind,
    RoundView,
    RunView,
)

Draw = Callable[[Sequence[ClientName], int], tuple[ClientName, ...]]
"""So many of these clients, at random."""


@dataclass(frozen=True)
class Over:
    """The phase is over: the next one begins, or the round is closed."""


PhaseEnd = Over | Extend | Abort


class Phase(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def follows(self) -> str:
        """The phase that it comes after; empty for the first one."""
        ...

    @property
    def task(self) -> str:
        """The word of the task that clients who are asked get; empty if it asks nobody."""
        ...

    @property
    def collects(self) -> SubmissionKind | None: ...

    @property
    def keeps(self) -> bool:
        """Whether what was collected outlives the round. If not, it is removed from the disk when
        the round is closed."""
        ...

    def is_part_of(self, document: RunDocument) -> bool: ...

    def begin(self, view: RunView, rules: RoundsSpec, now: float, draw: Draw) -> BegunPhase: ...

    def end(self, view: RoundView, rules: RoundsSpec, now: float) -> PhaseEnd | None:
        """None while it lasts."""
        ...


def every_run(_document: RunDocument) -> bool:
    return True


def drawn_at_random(view: RunView, rules: RoundsSpec, draw: Draw) -> tuple[ClientName, ...]:
    return draw(view.online, rules.clients_per_round)


def members_of_the_sum(view: RunView, _rules: RoundsSpec, _draw: Draw) -> tuple[ClientName, ...]:
    return view.newest.members if view.newest is not None else ()


def min_contributors(rules: RoundsSpec) -> int:
    return rules.min_contributors


def nobody(_rules: RoundsSpec) -> int:
    return 0


@dataclass(frozen=True)
class CollectingPhase:
    """Asks clients for one kind of submission, until all that were asked have sent one or the
    deadline is over. Too few valid ones abort a round that is not published yet; what is published
    stays, however many answer afterwards."""

    name: str
    follows: str
    state: RoundState
    task: str
    collects: SubmissionKind
    asks: Callable[[RunView, RoundsSpec, Draw], tuple[ClientName, ...]]
    needs: Callable[[RoundsSpec], int]
    chosen_by: Callable[[RunDocument], bool] = every_run
    keeps: bool = False

    def is_part_of(self, document: RunDocument) -> bool:
        return self.chosen_by(document)

    def begin(self, view: RunView, rules: RoundsSpec, now: float, draw: Draw) -> BegunPhase:
        return BegunPhase(
            name=self.name,
            state=self.state,
            collects=self.collects.name,
            asked=self.asks(view, rules, draw),
            deadline_at=now + rules.deadline_seconds,
        )

    def end(self, view: RoundView, rules: RoundsSpec, now: float) -> PhaseEnd | None:
        """None while a submission waits to be checked, or the clients have time left."""
        if view.stored or not (view.all_checked or now >= view.deadline_at):
            return None
        needed = self.needs(rules)
        if view.valid >= needed:
            return Over()
        if not view.all_checked and view.extensions < rules.extensions:
            # from now on, not from the deadline: it may have passed while the aggregator was down
            return Extend(view.number, now + rules.extension_seconds)
        if view.state is RoundState.PUBLISHED:
            return Over()
        return Abort(
            view.number,
            f"{view.valid} of {view.asked} selected clients sent a valid {self.collects.name}, "
            f"{needed} are needed",
        )


@dataclass(frozen=True)
class FoldingPhase:
    """A job of the aggregator's own; it asks nobody."""

    name: ClassVar[str] = "fold"
    follows: ClassVar[str] = "collect"
    task: ClassVar[str] = ""
    collects: ClassVar[None] = None
    keeps: ClassVar[bool] = False

    def is_part_of(self, _document: RunDocument) -> bool:
        return True

    def begin(self, _view: RunView, _rules: RoundsSpec, _now: float, _draw: Draw) -> BegunPhase:
        return BegunPhase(self.name, RoundState.SEALED, job=JobKind.FOLD)

    def end(self, view: RoundView, _rules: RoundsSpec, _now: float) -> PhaseEnd | None:
        """A fold that fails for good aborts the round itself (`jobs.fold`)."""
        return Over() if view.has_aggregate else None


COLLECT = CollectingPhase(
    name="collect",
    follows="",
    state=RoundState.OPEN,
    task=TaskKind.TRAIN,
    collects=UPDATE,
    asks=drawn_at_random,
    needs=min_contributors,
)
FOLD = FoldingPhase()
PHASES: Registry[Phase] = Registry("phase", {COLLECT.name: COLLECT, FOLD.name: FOLD})


class RoundPhases:
    """The phases of a run's rounds, in order."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        self._phases = tuple(phases)

    def __iter__(self) -> Iterator[Phase]:
        return iter(self._phases)

    @property
    def first(self) -> Phase:
        return self._phases[0]

    def named(self, name: str) -> Phase:
        for phase in self._phases:
            if phase.name == name:
                return phase
        raise ParameterError(
            f"the round is in phase {name}, which this version does not know",
            "start the version of the aggregator that opened the round",
        )

    def kinds(self, *, kept: bool) -> set[str]:
        """Of submissions that outlive their round, or do not."""
        phases = (phase for phase in self._phases if phase.keeps is kept)
        return {phase.collects.name for phase in phases if phase.collects is not None}

    def after(self, name: str) -> Phase | None:
        """None after the last."""
        position = self._phases.index(self.named(name)) + 1
        return self._phases[position] if position < len(self._phases) else None


def phases_of(document: RunDocument) -> RoundPhases:
    """In the order that `follows` gives; phases that do not make one sequence are refused."""
    chosen = [phase for phase in PHASES.values() if phase.is_part_of(document)]
    following = {phase.follows: phase for phase in chosen}
    kinds = [phase.collects.name for phase in chosen if phase.collects is not None]
    ordered: list[Phase] = []
    while (phase := following.get(ordered[-1].name if ordered else "")) is not None:
        ordered.append(phase)
    if len(ordered) != len(chosen) or len(set(kinds)) != len(kinds):
        raise ParameterError(
            f"the phases {', '.join(phase.name for phase in chosen)} are no sequence",
            "let each follow another phase of the run, and collect a kind of its own",
        )
    return RoundPhases(ordered)
