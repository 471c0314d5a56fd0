"""FedPerm without its encryption: the integers of all clients, added up in the clear."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy.images import Given
from fedperm.aggregate import average_update
from fedperm.privacy.release import noise_of, promise_of
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters
from fedperm_client.preparation import Preparation
from fedperm_client.tasks.task import Examples
from fedperm_client.training.learner import Learner


@dataclass(frozen=True)
class Client:
    """What a real client does in a round, up to its encryption."""

    learner: Learner
    preparation: Preparation

    @classmethod
    def of(cls, document: RunDocument, own: Examples, randomness: Random) -> "Client":
        return cls(
            Learner(Given(own), document, promise_of(document)),
            Preparation.of(document, noise_of(document), randomness),
        )

    def coded(self, parameters: Parameters) -> NDArray[Any]:
        movement = self.learner.update(parameters, self.preparation.randomness)
        return self.preparation.randomize(movement)


def step(document: RunDocument, coded: Sequence[NDArray[Any]]) -> Parameters:
    """How far the model moves: bounded by the aggregator, averaged by the clients. The order of
    the values within an upload matters to neither."""
    plan, bound = document.plan, document.bound
    bounded = [
        values if bound is None else bound.apply(values, plan.fixed_point).values
        for values in coded
    ]
    sums = np.sum([values.astype(np.int64) for values in bounded], axis=0)
    return average_update(sums, len(coded), plan, document.noise.clip)


class FedPerm:
    def __init__(self, document: RunDocument, parts: Sequence[Examples], seed: int) -> None:
        self._document = document
        self._clients = [
            Client.of(document, own, Random(f"fedperm {seed} {u}")) for u, own in enumerate(parts)
        ]

    def move(self, parameters: Parameters) -> Parameters:
        """One round."""
        return step(self._document, [client.coded(parameters) for client in self._clients])
