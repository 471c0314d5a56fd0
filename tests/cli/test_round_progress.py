"""What a watcher concludes from events: hand-made ones, in every order that can happen."""

from hypothesis import given
from hypothesis import strategies as st

from fedperm.wire.aggregator import ClientSeconds, SubmissionState
from fedperm.wire.events import (
    ClientReported,
    Details,
    Event,
    FoldAdvanced,
    ParticipantJoined,
    RoundAborted,
    RoundOpened,
    RoundPublished,
    RoundSealed,
    SubmissionChecked,
    SubmissionStored,
)
from fedperm_cli.run.round_progress import FinishedRounds, RoundProgress, progress_after

STORED = SubmissionStored(size=1)
ABORTED = RoundAborted(reason="too few", dropped=0)
VALID = SubmissionChecked(
    state=SubmissionState.VALID, reason="", norm_before=None, norm_after=None, bounded=None
)
REPORT = ClientReported(
    seconds=ClientSeconds(train=0, randomize=0, encrypt=0, upload=0, decrypt=0),
    bytes_up=0,
    bytes_down=0,
)


def event(details: Details, number: int = 1, client: str = "") -> Event:
    return Event(id=1, at=0.0, event=details.event, round=number, client=client, details=details)


def opened(number: int, clients: int) -> Event:
    selected = tuple(f"c{i}" for i in range(clients))
    return event(RoundOpened(epoch=1, selected=selected, deadline_at=60.0), number)


def sealed(number: int, *members: str) -> Event:
    return event(RoundSealed(members=members, seconds=0.0), number)


def published(number: int) -> Event:
    return event(RoundPublished(contributors=1, sha256="0" * 64, size=1, seconds=0.0), number)


def report(number: int, client: str) -> Event:
    return event(REPORT, number, client)


def test_a_round_goes_from_uploads_to_checks_to_the_fold() -> None:
    happened = [
        opened(3, 2),
        event(STORED, 3, "c0"),
        event(VALID, 3, "c0"),
        event(STORED, 3, "c1"),
        event(STORED, 2, "c1"),  # of another round
        event(FoldAdvanced(phase="fold", done=4, total=10), 3),
        event(FoldAdvanced(phase="rerandomise", done=1, total=2), 3),
    ]
    progress = None
    for one in happened:
        progress = progress_after(one, progress)
    assert progress == RoundProgress(3, 2, stored=2, checked=1, folded=4, fold_jobs=10)
    assert progress is not None
    assert progress.after(published(3)).folded == 10


def test_nothing_is_known_before_a_round_is_opened() -> None:
    assert progress_after(event(ParticipantJoined(), 0), None) is None


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
    assert finished.take(event(ABORTED, 2)) == [1, 2]


@given(st.data())
def test_every_settled_round_is_told_once_and_in_order(data) -> None:
    """Whatever clients report, late or never."""
    finished, told = FinishedRounds(), []
    members = ["a", "b", "c"]
    rounds = data.draw(st.integers(1, 6))
    for number in range(1, rounds + 1):
        if data.draw(st.booleans()):
            told += finished.take(event(ABORTED, number))
        else:
            told += finished.take(sealed(number, *members))
            told += finished.take(published(number))
        reports = st.tuples(st.integers(1, number), st.sampled_from([*members, "outsider"]))
        for about, client in data.draw(st.lists(reports, max_size=8)):
            told += finished.take(report(about, client))
    told += finished.rest()
    assert told == list(range(1, rounds + 1))
