"""The decisions about a run: tables by hand, and laws for everything in between."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.run_document import RoundsSpec
from fedperm.wire.aggregator import RoundState, RunState
from fedperm_aggregator.records import (
    Abort,
    Advance,
    BegunPhase,
    Complete,
    Decision,
    Extend,
    Fail,
    JobKind,
    Open,
    RoundView,
    RunView,
    Wait,
)
from fedperm_aggregator.rounds.phases import COLLECT, FOLD, RoundPhases
from fedperm_aggregator.rounds.rules import decide
from fedperm_aggregator.rounds.scheduler import select

RULES = RoundsSpec(
    count=3,
    clients_per_round=4,
    min_contributors=2,
    start_with=3,
    deadline_seconds=60.0,
    extension_seconds=20.0,
    extensions=1,
    give_up_after=2,
)
DEADLINE = 1000.0
OPEN = RoundView(
    number=1,
    state=RoundState.OPEN,
    phase="collect",
    deadline_at=DEADLINE,
    extensions=0,
    asked=4,
    stored=0,
    valid=0,
    rejected=0,
    members=(),
    has_aggregate=False,
)
CLOSED = replace(OPEN, state=RoundState.PUBLISHED, phase="")
TO_FOLD = Advance(1, BegunPhase("fold", RoundState.SEALED, job=JobKind.FOLD))
RUN = RunView(
    state=RunState.RUNNING,
    has_model=True,
    epoch=5,
    online=("a", "b", "c"),
    newest=None,
    aborted_in_a_row=0,
)


def first(clients: Any, count: int) -> tuple[str, ...]:
    return tuple(clients)[:count]


def decision(view: RunView, now: float = DEADLINE - 1) -> Decision:
    return decide(view, RoundPhases([COLLECT, FOLD]), RULES, now, first)


def opening(number: int, asked: tuple[str, ...], deadline_at: float) -> Open:
    phase = BegunPhase("collect", RoundState.OPEN, "update", asked, deadline_at)
    return Open(number, 5, phase)


def of_round(now: float, **changes: Any) -> Decision:
    return decision(replace(RUN, newest=replace(OPEN, **changes)), now)


BEFORE, AFTER = DEADLINE - 0.001, DEADLINE


@pytest.mark.parametrize(
    ("now", "counts", "expected"),
    [
        (BEFORE, {"valid": 3}, Wait(RunState.RUNNING)),
        (BEFORE, {"valid": 4}, TO_FOLD),
        (BEFORE, {"valid": 2, "rejected": 2}, TO_FOLD),
        (BEFORE, {"valid": 3, "stored": 1}, Wait(RunState.RUNNING)),
        (AFTER, {"valid": 2}, TO_FOLD),
        (AFTER, {"valid": 2, "stored": 1}, Wait(RunState.RUNNING)),
        (AFTER, {"valid": 1}, Extend(1, AFTER + 20.0)),
        (AFTER + 3600, {"valid": 1}, Extend(1, AFTER + 3620.0)),
        (AFTER, {"valid": 1, "stored": 1}, Wait(RunState.RUNNING)),
    ],
)
def test_an_open_round(now, counts, expected):
    assert of_round(now, **counts) == expected


@pytest.mark.parametrize(
    ("now", "counts"),
    [
        (AFTER, {"valid": 1, "extensions": 1}),
        (AFTER, {"extensions": 1}),
        (BEFORE, {"valid": 1, "rejected": 3}),
        (AFTER, {"valid": 0, "rejected": 4}),
    ],
)
def test_a_round_that_cannot_succeed_is_aborted_with_the_reason(now, counts):
    aborted = of_round(now, **counts)
    assert aborted == Abort(
        1, f"{counts.get('valid', 0)} of 4 selected clients sent a valid update, 2 are needed"
    )


SEALED = {"state": RoundState.SEALED, "phase": "fold", "asked": 0}


def test_a_sealed_round_is_left_to_be_folded():
    assert of_round(AFTER + 1e6, **SEALED) == Wait(RunState.RUNNING)


def test_a_round_is_closed_when_it_is_folded():
    assert of_round(BEFORE, **SEALED, has_aggregate=True) == Advance(1, None)


def test_a_phase_that_this_version_does_not_know_is_named():
    with pytest.raises(ParameterError, match="phase vote, which this version does not know"):
        of_round(BEFORE, phase="vote")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"has_model": False}, "waits for the initial model"),
        ({"epoch": 0}, "waits for a key epoch"),
        ({"online": ("a", "b")}, "waits for clients: 2 of 3 online"),
        ({"online": ()}, "waits for clients: 0 of 3 online"),
    ],
)
def test_the_first_round_waits_and_says_for_what(changes, reason):
    assert decision(replace(RUN, **changes)) == Wait(RunState.WAITING, reason)


def test_the_first_round_opens_when_enough_are_there():
    assert decision(RUN, 100.0) == opening(1, ("a", "b", "c"), 160.0)


def test_later_rounds_need_no_more_than_the_minimum():
    view = replace(RUN, newest=CLOSED, online=("a", "b"))
    assert decision(view, 100.0) == opening(2, ("a", "b"), 160.0)
    alone = decision(replace(view, online=("a",)))
    assert alone == Wait(RunState.WAITING, "waits for clients: 1 of 2 online")


def test_a_run_completes_after_its_rounds_also_if_the_last_one_was_aborted():
    for state, aborted in ((RoundState.PUBLISHED, 0), (RoundState.ABORTED, 1)):
        last = replace(CLOSED, number=3, state=state)
        assert decision(replace(RUN, newest=last, aborted_in_a_row=aborted)) == Complete()


def test_a_run_fails_after_so_many_aborted_rounds_in_a_row():
    aborted = replace(CLOSED, number=2, state=RoundState.ABORTED)
    failed = decision(replace(RUN, newest=aborted, aborted_in_a_row=2))
    assert failed == Fail("2 rounds in a row were aborted")


def test_a_stopped_run_finishes_its_round_and_opens_no_other():
    stopped = replace(RUN, state=RunState.STOPPED)
    assert decision(stopped) == Wait(RunState.STOPPED, "stopped by the operator")
    under_way = decision(replace(stopped, newest=OPEN))
    assert isinstance(under_way, Wait)
    assert under_way.state is RunState.STOPPED
    full = replace(OPEN, valid=4)
    assert decision(replace(stopped, newest=full)) == TO_FOLD


times = st.floats(0, 4000)
places = st.sampled_from([(RoundState.OPEN, "collect"), (RoundState.SEALED, "fold")])


@st.composite
def rounds(draw: st.DrawFn) -> RoundView:
    selected = draw(st.integers(2, 6))
    fates = draw(st.lists(st.sampled_from("svr-"), min_size=selected, max_size=selected))
    state, phase = draw(places)
    return RoundView(
        number=draw(st.integers(1, 3)),
        state=state,
        phase=phase,
        deadline_at=draw(times),
        extensions=draw(st.integers(0, 1)),
        asked=selected,
        stored=fates.count("s"),
        valid=fates.count("v"),
        rejected=fates.count("r"),
        members=(),
        has_aggregate=False,
    )


views = st.builds(
    RunView,
    state=st.sampled_from([RunState.WAITING, RunState.RUNNING, RunState.STOPPED]),
    has_model=st.booleans(),
    epoch=st.integers(0, 3),
    online=st.sets(st.sampled_from("abcdef")).map(lambda names: tuple(sorted(names))),
    newest=rounds(),
    aborted_in_a_row=st.just(0),
)


@given(views, times)
def test_no_round_is_sealed_too_small_or_before_all_that_was_stored_is_checked(view, now):
    if isinstance(decision(view, now), Advance):
        assert view.newest.stored == 0
        assert view.newest.valid >= RULES.min_contributors
        assert view.newest.state is RoundState.OPEN


@given(views, times)
def test_a_round_is_settled_at_once_when_all_are_checked(view, now):
    newest = view.newest
    if newest.state is RoundState.OPEN and newest.valid + newest.rejected == newest.asked:
        assert isinstance(decision(view, now), Advance | Abort)


@given(views, times)
def test_no_round_opens_while_another_is_under_way(view, now):
    assert not isinstance(decision(view, now), Open | Complete | Fail)


@given(views, times)
def test_an_extension_always_gives_more_time(view, now):
    extended = decision(view, now)
    if isinstance(extended, Extend):
        assert extended.deadline_at >= now + RULES.extension_seconds
        assert extended.deadline_at > view.newest.deadline_at


@given(views, times, st.floats(0, 5000))
def test_a_clock_that_is_set_back_only_makes_a_round_wait(view, now, jump):
    """Whatever is decided at an earlier time is what is decided now, or to wait."""
    earlier, later = decision(view, now - jump), decision(view, now)
    if not isinstance(earlier, Wait):
        assert type(earlier) is type(later)


@given(st.sets(st.text("abcdef", min_size=1)), st.integers(1, 8), st.integers())
def test_a_draw_takes_so_many_different_clients_of_those_that_are_there(online, count, seed):
    drawn = select(tuple(online), count, Random(seed))
    assert len(set(drawn)) == len(drawn) == min(count, len(online))
    assert set(drawn) <= online


def test_every_client_is_drawn_equally_often():
    randomness = Random(3)
    draws = [select(("a", "b", "c", "d"), 2, randomness) for _ in range(4000)]
    for client in "abcd":
        # mean 2000, deviation sqrt(4000 / 4) = 31.6
        assert abs(sum(client in draw for draw in draws) - 2000) < 5 * 31.6
