"""Who trains on what, in all cases side by side."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy.setting import CLIENTS
from experiments.robustness.scene import Deal
from experiments.robustness.setting import Attack, Case
from experiments.robustness.training import Models, Steps
from fedperm_client.tasks.task import Examples

_POISONED = {Attack.BACKDOOR, Attack.BOOSTED}


@dataclass(frozen=True, eq=False)
class Lesson:
    """One client's training on one set of data, for the cases in which it does that."""

    client: int
    steps: Steps
    cases: NDArray[np.intp]


def lessons_of(
    deal: Deal, cases: Sequence[Case], steps: Callable[[Examples, int], Steps]
) -> list[Lesson]:
    """`steps` makes a client's training from its data and its number."""
    return [
        Lesson(client, steps(examples, client), chosen)
        for client in range(CLIENTS)
        for examples, chosen in _data(deal, cases, client)
    ]


def moved_by(lessons: Sequence[Lesson], models: Models) -> NDArray[np.float64]:
    """By case and client: how training moved the case's model."""
    moved = np.empty((len(models), CLIENTS, models.shape[1]))
    for lesson in lessons:
        moved[lesson.cases, lesson.client] = lesson.steps.movements(models[lesson.cases])
    return moved


def _data(
    deal: Deal, cases: Sequence[Case], client: int
) -> Iterator[tuple[Examples, NDArray[np.intp]]]:
    malicious = np.array([client < case.malicious for case in cases])
    mislabels = malicious & [case.attack is Attack.LABELS for case in cases]
    poisons = malicious & [case.attack in _POISONED for case in cases]
    for data, chosen in (
        (deal.own, ~(mislabels | poisons)),
        (deal.mislabelled, mislabels),
        (deal.poisoned, poisons),
    ):
        if chosen.any():
            yield data(client), np.flatnonzero(chosen)
