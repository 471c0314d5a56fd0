"""A scheme that only tests have, masks in the clear, carries whole federations: keys, releases,
uploads, sums and models, with nothing of Paillier anywhere."""

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from safetensors.numpy import load, load_file

from fedperm.run_document import RunDocument
from fedperm.wire.model import decode_model
from fedperm_client.errors import CeilingError
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.documents import DIGITS, document
from tests.client.federation import drive
from tests.federation.wire_oracle import Integers, bounded
from tests.schemes.clear import Clear, clear_scheme
from tests.seams.known_average import INITIAL, NAMES, check_models, known_homes, known_run

pytestmark = pytest.mark.anyio
AXES = {"scheme": Clear.name}


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with clear_scheme():
        yield


async def test_clients_learn_the_plain_average_through_a_rotation_of_the_key(federation):
    run = known_run(AXES, rounds=4)
    await federation.start(INITIAL, run)
    homes = await known_homes(federation, run)
    with ExitStack() as living:
        clients = [living.enter_context(home.client()) for home in homes]
        await drive(federation, *clients, rounds=1)
        await federation.rest()
        await drive(federation, *clients, rounds=2)
        await federation.rotate_and_go_on(2)
        await drive(federation, *clients)
    check_models(homes, rounds=4)
    assert {record.epoch for record in homes[0].summary.history} == {1, 2}


def in_order(upload: bytes, run: RunDocument) -> Integers:
    """What the client coded: its masks say where each shuffled value belongs."""
    tensors = load(upload)
    values = np.zeros(tensors["values"].shape, np.int64)
    for window, shuffled in enumerate(tensors["values"]):
        values[window, tensors["positions"][window % run.shuffle.k2]] = shuffled
    return values


async def test_noised_and_bounded_updates_add_up_to_the_model_of_every_client(federation):
    run = document(
        axes=AXES,
        key=document().key.model_dump() | {"parameters": {}},
        shuffle={"k1": 150, "k2": 2},
        norm_bound={"limit": 17.0},
    )
    await federation.start(wanted=run)
    homes = await federation.homes(*NAMES, min_key_bits=0, accountant="no-shuffle-rdp")
    with ExitStack() as living:
        await drive(federation, *(living.enter_context(home.client()) for home in homes))

    model = decode_model(DIGITS.body, run.model.parameters)
    reach, clip = 0.5 + 8 * run.noise.laplace_scale, run.noise.clip
    step, touched = 2 * reach / (2**run.value_bits - 1), []
    for number in range(1, run.rounds.count + 1):
        uploads = [upload for home in homes for upload in home.uploads(number)]
        assert len(uploads) == len(NAMES)
        coded = [in_order(upload, run) for upload in uploads]
        touched += [not np.array_equal(values, bounded(values, run)) for values in coded]
        sums = sum(bounded(values, run) for values in coded)
        published = await federation.aggregator.api.aggregate(run.run, number, RUN_OPERATOR)
        assert np.array_equal(load(published)["sums"], sums)
        mean = 0.5 - reach + step * sums.reshape(-1)[: model.size] / len(NAMES)
        model = model + clip * (2 * mean - 1)
    assert any(touched)  # the norm of the noise alone is about 19
    for home in homes:
        tensors = load_file(home.run_folder / "model.safetensors")
        learned = np.concatenate([tensors[spec.name].reshape(-1) for spec in run.model.tensors])
        np.testing.assert_allclose(learned, model, rtol=0, atol=1e-12)
        assert home.charges == run.rounds.count
    assert len({home.summary.parameters_sha256 for home in homes}) == 1


async def test_a_client_that_wants_a_key_does_not_take_part(federation):
    run = known_run(AXES, rounds=1)
    await federation.start(INITIAL, run)
    home = (await known_homes(federation, run))[0]
    with home.client(min_key_bits=512) as careful, pytest.raises(CeilingError, match="has 0 bits"):
        await drive(federation, careful)
