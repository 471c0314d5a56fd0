"""The judge: a pure function of what passed on the wire, what is published and what clients hold.

Client u moves coordinate u by 1 and no other, so a round with n contributors moves it by 1/n, once.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.wire.aggregator import RoundOutcome, RoundState
from tests.chaos.upload_witness import Slot

TOLERANCE = 0.1
"""The noise of all rounds together is far below, 1/n of four clients far above."""


@dataclass(frozen=True)
class ClientState:
    """What a client has on its disk at the end; `charged` are the rounds of its ledger."""

    name: str
    coordinate: int
    parameters: NDArray[Any]
    settled: int
    charged: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """What the wire has shown."""

    acknowledged: Collection[Slot]
    sent: Collection[Slot]
    second_releases: Collection[Slot]


@dataclass(frozen=True)
class Verdict:
    """Everything that must not be, in words."""

    lost: tuple[str, ...]
    double: tuple[str, ...]
    second_releases: tuple[str, ...]
    split: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.double or self.second_releases or self.split)


def judge(
    rounds: Sequence[RoundOutcome],
    clients: Sequence[ClientState],
    seen: Seen,
    min_contributors: int,
) -> Verdict:
    published = [outcome for outcome in rounds if outcome.state is RoundState.PUBLISHED]
    moved = [(client, _deviation(client, clients, published)) for client in clients]
    return Verdict(
        lost=(
            *_acknowledged_and_missing(published, seen.acknowledged),
            *_wrongly_aborted(rounds, seen.acknowledged, min_contributors),
            *(f"{c.name} lacks {-low:.3f}" for c, d in moved if (low := d.min()) < -TOLERANCE),
        ),
        double=tuple(
            f"{c.name} has {high:.3f} too much" for c, d in moved if (high := d.max()) > TOLERANCE
        ),
        second_releases=(
            *(f"{slot.client} sent two bodies in {slot.round}" for slot in seen.second_releases),
            *_wrong_ledgers(clients, seen.sent),
        ),
        split=tuple(_split(clients, len(rounds))),
    )


def _acknowledged_and_missing(
    published: Sequence[RoundOutcome], acknowledged: Collection[Slot]
) -> Iterator[str]:
    for outcome in published:
        for slot in acknowledged:
            if slot.round == outcome.round and slot.client not in outcome.included:
                yield f"{slot.client} was acknowledged in {slot.round}, which is without it"


def _wrongly_aborted(
    rounds: Sequence[RoundOutcome], acknowledged: Collection[Slot], min_contributors: int
) -> Iterator[str]:
    """A round is given up for want of updates, and for nothing else."""
    for outcome in rounds:
        if outcome.state is RoundState.ABORTED:
            there = sum(slot.round == outcome.round for slot in acknowledged)
            if there >= min_contributors or "are needed" not in outcome.reason:
                yield f"{outcome.round} was aborted with {there} uploads: {outcome.reason}"


def _deviation(
    client: ClientState, clients: Sequence[ClientState], published: Sequence[RoundOutcome]
) -> NDArray[Any]:
    """Of its parameters from what the published rounds explain."""
    explained = np.zeros_like(client.parameters)
    coordinates = {one.name: one.coordinate for one in clients}
    for outcome in published:
        for name in outcome.included:
            if outcome.round <= client.settled:
                explained[coordinates[name]] += 1 / len(outcome.included)
    return client.parameters - explained


def _wrong_ledgers(clients: Sequence[ClientState], sent: Collection[Slot]) -> Iterator[str]:
    for client in clients:
        for number, times in Counter(client.charged).items():
            if times > 1:
                yield f"{client.name} charged round {number} {times} times"
        for slot in sent:
            if slot.client == client.name and slot.round not in client.charged:
                yield f"{client.name} sent something in round {slot.round} and did not charge it"


def _split(clients: Sequence[ClientState], rounds: int) -> Iterator[str]:
    first, *others = clients
    for client in clients:
        if client.settled != rounds:
            yield f"{client.name} has settled {client.settled} of {rounds} rounds"
    for other in others:
        if other.settled == first.settled and (other.parameters != first.parameters).any():
            yield f"{other.name} and {first.name} differ after {first.settled} rounds"
