"""What happens to a run next: a pure decision from what is known and the time.

docs/protocol.md, "States", in code. Nothing here reads a clock, a file or a database: whoever
asks does so inside the transaction that carries the decision out.
"""

from collections.abc import Callable, Sequence
from random import Random

from fedperm.run_document import RoundsSpec
from fedperm.wire.aggregator import RoundState, RunState
from fedperm_aggregator.records import (
    Abort,
    Complete,
    Decision,
    Extend,
    Fail,
    Open,
    RoundView,
    RunView,
    Seal,
    Wait,
)

Draw = Callable[[Sequence[str], int], tuple[str, ...]]
"""So many of these clients, at random."""


def decide(view: RunView, rules: RoundsSpec, now: float, draw: Draw) -> Decision:
    """One step; asking again after it was carried out gives the next."""
    newest = view.newest
    if newest is not None and newest.state is RoundState.OPEN:
        return _step_of_round(newest, rules, now) or _busy(view)
    if newest is not None and newest.state is RoundState.SEALED:
        return _busy(view)
    return _end(view, rules) or _pause(view, rules) or _opening(view, rules, now, draw)


def _step_of_round(view: RoundView, rules: RoundsSpec, now: float) -> Decision | None:
    """None while an update waits to be checked, or the selected clients have time left."""
    if view.stored or not (view.all_checked or now >= view.deadline_at):
        return None
    if view.valid >= rules.min_contributors:
        return Seal(view.number)
    if not view.all_checked and view.extensions < rules.extensions:
        # from now on, not from the deadline: it may have passed while the aggregator was down
        return Extend(view.number, now + rules.extension_seconds)
    return Abort(view.number, _shortfall(view, rules))


def _shortfall(view: RoundView, rules: RoundsSpec) -> str:
    return (
        f"{view.valid} of {view.selected} selected clients sent a valid update, "
        f"{rules.min_contributors} are needed"
    )


def _busy(view: RunView) -> Wait:
    """A round is under way; a stop lets it end."""
    if view.state is RunState.STOPPED:
        return Wait(RunState.STOPPED, "stopped by the operator; the last round is being finished")
    return Wait(RunState.RUNNING)


def _end(view: RunView, rules: RoundsSpec) -> Decision | None:
    if view.aborted_in_a_row >= rules.give_up_after:
        return Fail(f"{view.aborted_in_a_row} rounds in a row were aborted")
    if view.newest is not None and view.newest.number >= rules.count:
        return Complete()
    return None


def _pause(view: RunView, rules: RoundsSpec) -> Wait | None:
    if view.state is RunState.STOPPED:
        return Wait(RunState.STOPPED, "stopped by the operator")
    if not view.has_model:
        return Wait(RunState.WAITING, "waits for the initial model")
    if not view.epoch:
        return Wait(RunState.WAITING, "waits for a key epoch")
    needed = rules.start_with if view.newest is None else rules.min_contributors
    if len(view.online) < needed:
        return Wait(RunState.WAITING, f"waits for clients: {len(view.online)} of {needed} online")
    return None


def _opening(view: RunView, rules: RoundsSpec, now: float, draw: Draw) -> Open:
    return Open(
        number=view.newest.number + 1 if view.newest is not None else 1,
        epoch=view.epoch,
        selected=draw(view.online, rules.clients_per_round),
        deadline_at=now + rules.deadline_seconds,
    )


def select(online: Sequence[str], count: int, randomness: Random) -> tuple[str, ...]:
    """`count` of them, all if there are fewer; in the order of their names, which says nothing
    about the draw."""
    ordered = sorted(set(online))
    return tuple(sorted(randomness.sample(ordered, min(count, len(ordered)))))
