"""The simulation leaves out the encryption and nothing else.

A federation of real servers and clients and the simulation, from the same seeds, hold the same
model after every round, to the last bit. Keys, patterns and blinding factors are the operating
system's: they differ from test to test, and the model does not depend on them.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random, SystemRandom

import pytest
import torch

from experiments.accuracy.fedperm import FedPerm
from fedperm.norm_bound import honest_limit
from fedperm.run_document import FrozenDocument
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import decode_model, encode_model
from fedperm_client.initial_model import initial_model
from fedperm_client.tasks.loading import make_task
from fedperm_client.tasks.task import Examples
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.documents import document
from tests.client.federation import Federation, drive
from tests.keyserver.server import MovingClock
from tests.tasks.contexts import context

pytestmark = pytest.mark.anyio

TASK = f"{Path(__file__).parent / 'enlarged_digits.py'}:EnlargedDigits"
OPTIONS = {"filter": "orientations", "seed": 3}
INITIAL = initial_model(TASK, OPTIONS, seed=0)
SEED = 20
CLIENTS, ROUNDS = 3, 2
HONEST = honest_limit(7850, 0.5)

CLIPPED = {"learning_rate": 0.5, "record_clip_norm": 1.0}
IN_BATCHES = {"learning_rate": 0.1, "local_epochs": 2, "batch_size": 64}


class SeededNoise(SystemRandom):
    """Seeded where a client trains and noises, the operating system's for all else.

    Only rounding and noise are drawn in bulk, and only the order of batches takes 63 bits.
    """

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seeded = Random(seed)

    def randbytes(self, n: int) -> bytes:
        return self._seeded.randbytes(n) if n > 64 else super().randbytes(n)

    def getrandbits(self, k: int) -> int:
        return self._seeded.getrandbits(k) if k == 63 else super().getrandbits(k)


@pytest.fixture
def federation(tmp_path) -> Iterator[Federation]:
    federation = Federation(tmp_path, MovingClock())
    yield federation
    federation.close()


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    """Sums over several threads are rounded otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def parts() -> list[Examples]:
    contexts = (context(OPTIONS, shard, CLIENTS) for shard in range(CLIENTS))
    return [make_task(TASK, given).training_data() for given in contexts]


def simulated(frozen: FrozenDocument) -> list[str]:
    """Hashes of the simulation's models, round by round."""
    algorithm = FedPerm(frozen.content, parts(), SEED)
    parameters = decode_model(INITIAL.body, frozen.content.model.parameters)
    hashes = []
    for _ in range(ROUNDS):
        parameters = parameters + algorithm.move(parameters)
        hashes.append(sha256_of(encode_model(parameters)))
    return hashes


@pytest.mark.parametrize(
    ("training", "limit", "form", "bounded"),
    [
        (CLIPPED, HONEST, "centred", False),
        (CLIPPED, 0.6 * HONEST, "centred", True),
        (IN_BATCHES, 0.9 * HONEST, "paper", True),
    ],
)
async def test_federation_and_simulation_hold_the_same_model(
    federation, training, limit, form, bounded
):
    wanted = document(
        INITIAL,
        task={"name": "EnlargedDigits", "options": OPTIONS | {"shards": CLIENTS}},
        training=training,
        shuffle={"k1": 60, "k2": 2},
        norm_bound={"limit": limit, "form": form},
        rounds=document().rounds.model_dump() | {"count": ROUNDS},
    )
    frozen = await federation.start(INITIAL, wanted)
    settings = {"task": TASK, "accountant": "no-shuffle-rdp", "max_epsilon": 1e6}
    homes = [await federation.home(f"c{u}", shard=u, **settings) for u in range(CLIENTS)]
    with ExitStack() as living:
        await drive(
            federation,
            *(
                living.enter_context(
                    home.client(randomness=SeededNoise(f"fedperm {SEED} {number}"))
                )
                for number, home in enumerate(homes)
            ),
        )
    expected = simulated(frozen)
    assert len(set(expected)) == ROUNDS
    for home in homes:
        assert [record.parameters_sha256 for record in home.summary.history] == expected
    listed = await federation.aggregator.api.rounds(frozen.content.run, RUN_OPERATOR)
    updates = [update for report in listed.rounds for update in report.updates]
    assert len(updates) == CLIENTS * ROUNDS
    assert all(update.bounded is bounded for update in updates)
