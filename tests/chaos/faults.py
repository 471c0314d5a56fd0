"""What may go wrong on the way, and when: from a list, or by chance from a seed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class FaultKind(StrEnum):
    DROP = "drop"
    """The connection is gone before anything of the request is sent."""
    DELAY = "delay"
    CUT_REQUEST = "cut request"
    """The server gets the first octets, then the connection is gone."""
    CUT_ANSWER = "cut answer"
    SLICE = "slice"
    """Request and answer come in tiny segments."""
    DUPLICATE = "duplicate"
    """The server gets the same request a second time at the same moment."""
    LOSE_ANSWER = "lose answer"
    """The request is served, its answer held back, then the connection is gone."""


@dataclass(frozen=True)
class Fault:
    """`octets`: where a cut is made, or how long a segment is."""

    kind: FaultKind
    octets: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class RequestLine:
    method: str
    path: str


IN_A_ROW = (1, 1, 1, 4)

Plan = Callable[[RequestLine], Fault | None]
"""The fault that this request meets, if any."""


def no_faults(_request: RequestLine) -> None:
    return None


def listed(faults: Iterable[Fault]) -> Plan:
    """One request after the other meets them; later ones go through."""
    left = iter(faults)
    return lambda _request: next(left, None)


def only(concerned: Callable[[RequestLine], bool], plan: Plan) -> Plan:
    """For these requests; the others go through."""
    return lambda request: plan(request) if concerned(request) else None


def by_chance(randomness: Random, share: float) -> Plan:
    """This share of the requests meets one, all kinds alike. Some come several times in a row: a
    single one is often waited out before anybody notices."""
    left: list[Fault] = []

    def draw(_request: RequestLine) -> Fault | None:
        if not left and randomness.random() < share:
            left.extend([any_fault(randomness)] * randomness.choice(IN_A_ROW))
        return left.pop() if left else None

    return draw


def any_fault(randomness: Random) -> Fault:
    kind = randomness.choice(list(FaultKind))
    match kind:
        case FaultKind.DELAY | FaultKind.LOSE_ANSWER:
            return Fault(kind, seconds=randomness.uniform(0.05, 0.6))
        case FaultKind.SLICE:
            return Fault(kind, octets=randomness.randint(1, 40))
        case FaultKind.CUT_REQUEST | FaultKind.CUT_ANSWER:
            # in the head of a message as often as further on
            return Fault(kind, octets=int(10 ** randomness.uniform(0, 4.5)))
        case _:
            return Fault(kind)
