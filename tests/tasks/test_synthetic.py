"""The task of load tests: client u adds 1 at coordinate u, and nothing else."""

from contextlib import ExitStack
from random import Random

import numpy as np
import pytest
from safetensors.numpy import load_file

from fedperm.privacy.record_level import LocalTraining
from fedperm.wire.model import decode_model
from fedperm_client.errors import TaskError
from fedperm_client.initial_model import initial_model
from fedperm_client.tasks.loading import make_task
from fedperm_client.training.learner import Learner
from tests.client.documents import document
from tests.client.federation import Federation, drive
from tests.keyserver.server import MovingClock
from tests.tasks.contexts import context

UNPROTECTED = LocalTraining(learning_rate=1.0, clip=1.0, records=1, clip_norm=None)


def synthetic_document(parameters: int, **changes):
    options = {"parameters": parameters}
    return document(
        initial_model("synthetic", options, seed=0),
        task={"name": "synthetic", "options": {**options, "shards": 3}},
        training={"learning_rate": 1.0},
        shuffle={"k1": 4, "k2": 2},
        noise={"clip": 1.0, "laplace_scale": 0.0},
        norm_bound={"limit": 100.0},
        **changes,
    )


def learner(parameters: int, shard: int) -> Learner:
    task = make_task("synthetic", context({"parameters": parameters}, shard, shards=shard + 1))
    return Learner(task, synthetic_document(parameters), UNPROTECTED)


def unit(d: int, coordinate: int) -> np.ndarray:
    return np.eye(1, d, coordinate)[0]


@pytest.mark.parametrize(("d", "shard", "coordinate"), [(10, 0, 0), (10, 7, 7), (10, 13, 3)])
def test_an_update_is_the_unit_vector_of_the_shard(d, shard, coordinate):
    update = learner(d, shard).update(np.zeros(d), Random(1))
    np.testing.assert_array_equal(update, unit(d, coordinate))


def test_an_update_does_not_depend_on_where_the_model_stands():
    update = learner(10, 2).update(np.linspace(-3, 3, 10), Random(1))
    np.testing.assert_allclose(update, unit(10, 2), atol=1e-15)


def test_all_parameters_start_at_zero():
    made = initial_model("synthetic", {"parameters": 11}, seed=7)
    np.testing.assert_array_equal(decode_model(made.body, 11), np.zeros(11))


def test_there_is_nothing_to_test():
    assert learner(10, 0).test(np.zeros(10)) is None


def test_a_million_parameters_are_no_trouble():
    update = learner(1_000_000, 999_999).update(np.zeros(1_000_000), Random(1))
    np.testing.assert_array_equal(update, unit(1_000_000, 999_999))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"parameters": 0},
        {"parameters": 2.5},
        {"parameters": "10"},
        {"parameters": 1 << 40},
        {"parameters": 10, "hidden": 3},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(TaskError, match="options are wrong: ") as refusal:
        make_task("synthetic", context(options))
    assert refusal.value.hint == "the known options are parameters"


@pytest.mark.anyio
async def test_a_federation_adds_one_thing_of_each_client(tmp_path):
    federation = Federation(tmp_path, MovingClock())
    wanted = synthetic_document(20, value_bits=20)
    await federation.start(initial_model("synthetic", {"parameters": 20}, seed=0), wanted)
    homes = await federation.homes("ada", "ben", "cleo", max_epsilon=None, accept_no_privacy=True)
    with ExitStack() as living:
        await drive(federation, *(living.enter_context(home.client()) for home in homes))
    federation.close()
    model = load_file(homes[0].run_folder / "model.safetensors")["values"]
    average = [1 / 3, 1 / 3, 1 / 3] + 17 * [0.0]
    np.testing.assert_allclose(model, wanted.rounds.count * np.array(average), atol=1e-5)
