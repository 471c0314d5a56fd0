"""What happens to a run next: a pure decision from what is known and the time.

docs/protocol.md, "States", in code. Nothing here reads a clock, a file or a database: whoever
asks does so inside the transaction that carries the decision out.
"""

from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.run_document import RoundsSpec
from fedperm.wire.aggregator import RunState
from fedperm_aggregator.records import (
    Advance,
    Complete,
    Decision,
    Fail,
    Open,
    RoundView,
    RunView,
    Wait,
)
from fedperm_aggregator.rounds.phases import Draw, Over, RoundPhases


def decide(
    view: RunView, phases: RoundPhases, rules: RoundsSpec, now: float, draw: Draw
) -> Decision:
    """One step; asking again after it was carried out gives the next. No round opens before the
    one before is closed."""
    newest = view.newest
    if newest is not None and newest.phase:
        return _step_of_round(view, newest, phases, rules, now, draw) or _busy(view)
    return _end(view, rules) or _pause(view, rules) or _opening(view, phases, rules, now, draw)


def _step_of_round(
    view: RunView,
    newest: RoundView,
    phases: RoundPhases,
    rules: RoundsSpec,
    now: float,
    draw: Draw,
) -> Decision | None:
    end = phases.named(newest.phase).end(newest, rules, now)
    if not isinstance(end, Over):
        return end
    following = phases.after(newest.phase)
    begun = None if following is None else following.begin(view, rules, now, draw)
    return Advance(newest.number, begun)


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


def _opening(view: RunView, phases: RoundPhases, rules: RoundsSpec, now: float, draw: Draw) -> Open:
    last = view.newest.number if view.newest is not None else NO_ROUND
    return Open(RoundNumber(last + 1), view.epoch, phases.first.begin(view, rules, now, draw))
