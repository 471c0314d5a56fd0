"""The judge finds what it is there to find."""

from dataclasses import replace

import numpy as np
import pytest

from fedperm.wire.aggregator import RoundOutcome, RoundState
from tests.chaos.upload_witness import Slot
from tests.chaos.verdict import ClientState, Seen, judge

NAMES = ("ada", "ben", "cleo")
NEEDED = 2


def outcome(number: int, *included: str) -> RoundOutcome:
    return RoundOutcome(
        round=number,
        state=RoundState.PUBLISHED if included else RoundState.ABORTED,
        epoch=1,
        selected=NAMES,
        included=included,
        aggregate=None,
        reason="" if included else "1 of the 2 updates that are needed",
    )


ROUNDS = [outcome(1, *NAMES), outcome(2, "ada", "ben"), outcome(3), outcome(4, "ada", "cleo")]
MOVED = np.array([1 / 3 + 1 / 2 + 1 / 2, 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 0.0])
SENT = {Slot(name, round_.round) for round_ in ROUNDS for name in round_.included or ("ben",)}
SEEN = Seen(acknowledged=SENT, sent=SENT, second_releases=())


def clients(**changes) -> list[ClientState]:
    """All alike, but for Ben's changes."""
    states = [
        ClientState(
            name,
            coordinate,
            MOVED + 0.01,
            settled=4,
            charged=tuple(sorted(slot.round for slot in SENT if slot.client == name)),
        )
        for coordinate, name in enumerate(NAMES)
    ]
    return [states[0], replace(states[1], **changes), states[2]]


def test_a_run_without_fault_is_clean():
    """Also with an update that was acknowledged in a round that was aborted."""
    assert Slot("ben", 3) in SEEN.acknowledged
    assert judge(ROUNDS, clients(), SEEN, NEEDED).is_clean


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"parameters": MOVED + np.array([0, 1 / 3, 0, 0])}, {"double", "split"}),
        ({"parameters": MOVED + np.array([0, 0, 0, 1 / 3])}, {"double", "split"}),
        ({"parameters": MOVED - np.array([1 / 2, 0, 0, 0])}, {"lost", "split"}),
        ({"parameters": MOVED + 0.02}, {"split"}),
        ({"settled": 3}, {"double", "split"}),
        ({"charged": (1, 2, 2, 3)}, {"second_releases"}),
        ({"charged": (1, 2)}, {"second_releases"}),
    ],
)
def test_what_a_client_holds_is_judged(changes, found):
    verdict = judge(ROUNDS, clients(**changes), SEEN, NEEDED)
    wrong = {name for name, listed in vars(verdict).items() if listed}
    assert wrong == found
    assert not verdict.is_clean


def test_an_acknowledged_upload_must_be_in_its_round():
    seen = replace(SEEN, acknowledged={*SENT, Slot("cleo", 2)})
    verdict = judge(ROUNDS, clients(), seen, NEEDED)
    assert verdict.lost == ("cleo was acknowledged in 2, which is without it",)


def test_two_bodies_for_one_round_are_a_second_release():
    seen = replace(SEEN, second_releases=[Slot("ada", 1)])
    assert judge(ROUNDS, clients(), seen, NEEDED).second_releases == ("ada sent two bodies in 1",)


@pytest.mark.parametrize(
    ("acknowledged", "reason"),
    [({"ben", "cleo"}, "1 of the 2 updates that are needed"), ({"ben"}, "could not be folded")],
)
def test_a_round_with_enough_acknowledged_uploads_must_not_be_aborted(acknowledged, reason):
    seen = replace(SEEN, acknowledged={*SENT, *(Slot(name, 3) for name in acknowledged)})
    rounds = [*ROUNDS[:2], outcome(3).model_copy(update={"reason": reason}), ROUNDS[3]]
    (lost,) = judge(rounds, clients(), seen, NEEDED).lost
    assert lost == f"3 was aborted with {len(acknowledged)} uploads: {reason}"
