"""What a watcher concludes from events: hand-made ones, in every order that can happen."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fedperm.wire.aggregator import Event, EventKind
from fedperm_cli.run.round_progress import FinishedRounds, RoundProgress, progress_after


def event(kind: EventKind, number: int = 1, client: str = "", **details: Any) -> Event:
    return Event(id=1, at=0.0, event=kind, round=number, client=client, details=details)


def opened(number: int, clients: int) -> Event:
    return event(EventKind.ROUND_OPENED, number, selected=[f"c{i}" for i in range(clients)])


def sealed(number: int, *members: str) -> Event:
    return event(EventKind.ROUND_SEALED, number, members=list(members))


def published(number: int) -> Event:
    return event(EventKind.ROUND_PUBLISHED, number)


def report(number: int, client: str) -> Event:
    return event(EventKind.CLIENT_REPORT, number, client)


def test_a_round_goes_from_uploads_to_checks_to_the_fold() -> None:
    happened = [
        opened(3, 2),
        event(EventKind.UPDATE_STORED, 3, "c0"),
        event(EventKind.UPDATE_CHECKED, 3, "c0", state="valid"),
        event(EventKind.UPDATE_STORED, 3, "c1"),
        event(EventKind.UPDATE_STORED, 2, "c1"),  # of another round
        event(EventKind.FOLD_PROGRESS, 3, phase="fold", done=4, total=10),
        event(EventKind.FOLD_PROGRESS, 3, phase="rerandomise", done=1, total=2),
    ]
    progress = None
    for one in happened:
        progress = progress_after(one, progress)
    assert progress == RoundProgress(3, 2, stored=2, checked=1, folded=4, fold_jobs=10)
    assert progress is not None
    assert progress.after(published(3)).folded == 10


def test_nothing_is_known_before_a_round_is_opened() -> None:
    assert progress_after(event(EventKind.PARTICIPANT_JOINED, 0), None) is None


def test_a_round_is_told_when_its_last_member_has_reported() -> None:
    finished = FinishedRounds()
    assert finished.take(sealed(1, "a", "b")) == []
    assert finished.take(published(1)) == []
    assert finished.take(report(1, "a")) == []
    assert finished.waiting
    assert finished.take(report(1, "outsider")) == []
    assert finished.take(report(1, "b")) == [1]
    assert not finished.waiting
    assert finished.take(report(1, "late")) == []


def test_a_silent_member_delays_a_round_until_the_next_is_settled() -> None:
    finished = FinishedRounds()
    for one in (sealed(1, "a"), published(1), sealed(2, "a")):
        assert finished.take(one) == []
    assert finished.take(published(2)) == [1]
    assert finished.rest() == [2]


def test_an_aborted_round_has_nothing_to_wait_for() -> None:
    finished = FinishedRounds()
    finished.take(sealed(1, "a"))
    finished.take(published(1))
    assert finished.take(event(EventKind.ROUND_ABORTED, 2, reason="too few")) == [1, 2]


@given(st.data())
def test_every_settled_round_is_told_once_and_in_order(data) -> None:
    """Whatever clients report, late or never."""
    finished, told = FinishedRounds(), []
    members = ["a", "b", "c"]
    rounds = data.draw(st.integers(1, 6))
    for number in range(1, rounds + 1):
        if data.draw(st.booleans()):
            told += finished.take(event(EventKind.ROUND_ABORTED, number, reason=""))
        else:
            told += finished.take(sealed(number, *members))
            told += finished.take(published(number))
        reports = st.tuples(st.integers(1, number), st.sampled_from([*members, "outsider"]))
        for about, client in data.draw(st.lists(reports, max_size=8)):
            told += finished.take(report(about, client))
    told += finished.rest()
    assert told == list(range(1, rounds + 1))
