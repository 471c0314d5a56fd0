"""Runs whose models are known beforehand, whatever their parts are: the oracle is plain averaging.

Each client pushes a parameter of its own up and all others down, further than the clip. Without
noise its coded values are then the largest or the smallest there are, and rounding moves none.
"""

from collections.abc import Mapping
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from fedperm.axes import Axes
from fedperm.run_document import RunDocument
from fedperm_client.ending import Ending
from tests.client.documents import document
from tests.client.documents import rounds as rounds_of
from tests.client.federation import Federation, Home, drive
from tests.schemes.small import SMALL
from tests.simulation.documents import INITIAL, TASK
from tests.simulation.unit_task import PARAMETERS

NAMES = ("ada", "ben", "cleo")
CLIP = 0.25


def known_run(axes: Mapping[str, str], rounds: int) -> RunDocument:
    """16 parameters in padded windows of 6, two patterns."""
    chosen = Axes(**axes)
    return document(
        INITIAL,
        axes=chosen.model_dump(),
        key=document().key.model_dump() | {"parameters": SMALL[chosen.scheme]},
        task={"name": "unit", "options": {"shards": PARAMETERS}},
        training={"learning_rate": 1.0},
        shuffle={"k1": 6, "k2": 2},
        noise={"clip": CLIP, "laplace_scale": 0.0},
        rounds=rounds_of(count=rounds, clients_per_round=len(NAMES), start_with=len(NAMES)),
    )


def known_model(rounds: int) -> NDArray[np.float64]:
    """All parameters start at 0; in every round all clients contribute."""
    movements = np.full((len(NAMES), PARAMETERS), -CLIP)
    for client in range(len(NAMES)):
        movements[client, client] = CLIP
    return rounds * movements.mean(axis=0)


async def known_homes(federation: Federation, run: RunDocument) -> list[Home]:
    """Of clients that accept no noise, and keys as short as the run's."""
    settings = {
        "task": TASK,
        "max_epsilon": None,
        "accept_no_privacy": True,
        "min_key_bits": run.scheme.key_bits,
    }
    return [
        await federation.home(name, shard=shard, **settings) for shard, name in enumerate(NAMES)
    ]


async def run_to_its_end(federation: Federation, homes: list[Home]) -> None:
    with ExitStack() as living:
        await drive(federation, *(living.enter_context(home.client()) for home in homes))


def check_models(homes: list[Home], rounds: int) -> None:
    """Every client was in every sum, and all hold the model that plain averaging gives."""
    for home in homes:
        assert home.summary.state is Ending.COMPLETED
        assert home.summary.rounds_included == rounds
        (model,) = load_file(home.run_folder / "model.safetensors").values()
        np.testing.assert_allclose(model, known_model(rounds), rtol=0, atol=1e-12)
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
