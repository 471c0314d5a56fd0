"""The channels, measured one by one."""

import math
from collections.abc import Iterator

import numpy as np

from experiments.report_oracle.information import (
    bits_of_answers,
    bits_of_sampled_answers,
    bits_of_shuffled_values,
)
from experiments.report_oracle.scene import Scene
from fedperm.wire.message import Message

TRIALS = 200
SAMPLED = 3000
"""Tuples of places that are tried where there are too many for all."""


class Figures(Message):
    """Bits of one pattern's permutation that a round gives. `whole` is all there is to learn;
    `loss` by the number of columns that are asked about at once; `sealed` is by definition: what
    the aggregator receives does not depend on the model (tests/adversary). `next_uploads` is what
    an attacker learns of one column from what all clients train and send next."""

    positions: int
    clients: int
    laplace_scale: float
    whole: float
    one_place: float
    loss: dict[int, float]
    accuracy: float
    sealed: float
    next_uploads: float


def measure(scene: Scene, seed: int, columns: tuple[int, ...] = (1, 2, 3)) -> Figures:
    generator = np.random.default_rng(seed)
    positions = scene.positions
    return Figures(
        positions=positions,
        clients=len(scene.learners),
        laplace_scale=scene.document.noise.laplace_scale,
        whole=math.lgamma(positions + 1) / math.log(2),
        one_place=math.log2(positions),
        loss={count: _by_loss(scene, count, generator) for count in columns},
        accuracy=max(_by_accuracy(scene)),
        sealed=0.0,
        next_uploads=max(_by_next_uploads(scene, generator)),
    )


def _by_loss(scene: Scene, columns: int, generator: np.random.Generator) -> float:
    """Unrounded, as it was reported."""
    powers = [max(1, scene.most >> (3 * column)) for column in range(columns)]
    secrets = math.perm(scene.positions, columns)
    if columns == 1:
        places = [[place] for place in range(scene.positions)]
        return bits_of_answers([scene.tested(scene.model(p, powers))[0] for p in places])
    drawn = [
        generator.choice(scene.positions, columns, replace=False).tolist() for _ in range(SAMPLED)
    ]
    answers = [scene.tested(scene.model(places, powers))[0] for places in drawn]
    distinct = {tuple(places): answer for places, answer in zip(drawn, answers, strict=True)}
    return bits_of_sampled_answers(list(distinct.values()), secrets)


def _by_accuracy(scene: Scene) -> Iterator[float]:
    """Of one column, for powers of the attacker's choice."""
    for power in _powers(scene):
        models = (scene.model([place], [power]) for place in range(scene.positions))
        yield bits_of_answers([scene.tested(model)[1] for model in models])


def _by_next_uploads(scene: Scene, generator: np.random.Generator) -> Iterator[float]:
    """Of one column, for powers of the attacker's choice."""
    scale = scene.document.noise.laplace_scale
    for power in _powers(scene):
        means = [
            scene.next_updates(scene.model([place], [power])) for place in range(scene.positions)
        ]
        yield bits_of_shuffled_values(np.stack(means), scale, TRIALS, generator)


def _powers(scene: Scene) -> tuple[int, ...]:
    return tuple(max(1, scene.most // part) for part in (1, 4, 16))
