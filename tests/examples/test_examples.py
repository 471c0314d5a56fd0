"""The tasks in examples/ learn something in a real federation: keys, noise, masks and all."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from sklearn.datasets import load_digits

from fedperm.run_document import RunDocument
from fedperm_cli.plan.forecast import forecast
from fedperm_cli.plan.speed import Speed
from fedperm_cli.task.starting_file import write_starting_file
from fedperm_client.errors import TaskError
from fedperm_client.initial_model import InitialModel, initial_model
from tests.client.documents import document, rounds
from tests.client.federation import Federation, Home, drive
from tests.keyserver.server import MovingClock

EXAMPLES = Path(__file__).parents[2] / "examples"
TABULAR = f"{EXAMPLES / 'tabular.py'}:Tumours"
CNN = f"{EXAMPLES / 'mnist_cnn.py'}:HandwrittenDigits"
LAST_LAYER = f"{EXAMPLES / 'last_layer.py'}:FineTuned"
ANY_SPEED = Speed(*[1.0] * 7)

pytestmark = pytest.mark.anyio


@pytest.fixture
def federation(tmp_path):
    federation = Federation(tmp_path, MovingClock())
    yield federation
    federation.close()


def idx(array: np.ndarray) -> bytes:
    """Written from the format's description."""
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(head + array.tobytes())


@pytest.fixture(scope="module")
def like_mnist(tmp_path_factory) -> Path:
    """scikit-learn's digits, enlarged, in MNIST's files."""
    digits = load_digits()
    large = np.kron(digits.images / 16 * 255, np.ones((3, 3))).astype(np.uint8)
    images = np.pad(large, ((0, 0), (2, 2), (2, 2)))
    labels = digits.target.astype(np.uint8)
    folder = tmp_path_factory.mktemp("data") / "mnist"
    folder.mkdir()
    for part, some in (("train", slice(0, 600)), ("t10k", slice(600, 800))):
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(images[some]))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx(labels[some]))
    return folder.parent


def run_of(
    task: str, initial: InitialModel, count: int, learning_rate: float, **spec
) -> RunDocument:
    """Two clients; a little noise."""
    return document(
        initial,
        task={"name": task.rpartition(":")[2], "options": {}},
        training={"learning_rate": learning_rate, **spec},
        shuffle={"k1": min(128, initial.spec.parameters), "k2": 1},
        noise={"clip": 0.5, "laplace_scale": 0.02},
        rounds=rounds(count=count),
    )


async def finished(
    federation: Federation, task: str, initial: InitialModel, wanted: RunDocument, data: Path
) -> list[Home]:
    await federation.start(initial, wanted)
    own = {"task": task, "data_directory": data, "accountant": "no-shuffle-rdp"}
    homes = await federation.homes("ada", "ben", **own, max_epsilon=1e6, min_laplace_scale=0.02)
    with homes[0].client() as ada, homes[1].client() as ben:
        await drive(federation, ada, ben)
    return homes


async def test_logistic_regression_learns_protects_its_records_and_costs_what_was_planned(
    federation,
):
    data = EXAMPLES / "data"
    initial = initial_model(TABULAR, {}, seed=0, data_directory=data)
    wanted = run_of(TABULAR, initial, 3, 2.0, record_clip_norm=3.0, min_records=200)
    homes = await finished(federation, TABULAR, initial, wanted, data)
    ada, ben = (home.summary for home in homes)
    assert ada.parameters_sha256 == ben.parameters_sha256
    assert ada.parameters == 22
    assert ada.test.accuracy > 0.85
    assert ada.privacy["rows"]["record"]["epsilon"] > 0
    planned = forecast(wanted.plan, ANY_SPEED, processes=1).bytes
    assert (ada.bytes_up, ada.bytes_down) == (3 * planned.upload, 3 * planned.download)


async def test_the_convolutional_network_learns_from_mnists_files(federation, like_mnist):
    initial = initial_model(CNN, {}, seed=0, data_directory=like_mnist)
    wanted = run_of(CNN, initial, 2, 0.2, local_epochs=4, batch_size=20)
    homes = await finished(federation, CNN, initial, wanted, like_mnist)
    assert homes[0].summary.parameters == 2202
    assert homes[0].summary.test.accuracy > 0.5


async def test_a_fine_tuned_model_is_its_last_layer(federation):
    initial = initial_model(LAST_LAYER, {}, seed=0)
    wanted = run_of(LAST_LAYER, initial, 2, 0.2, local_epochs=8)
    homes = await finished(federation, LAST_LAYER, initial, wanted, Path("data"))
    assert homes[0].summary.test.accuracy > 0.7
    exported = safetensors.numpy.load((homes[0].run_folder / "model.safetensors").read_bytes())
    assert {name: values.shape for name, values in exported.items()} == {
        "1.weight": (10, 64),
        "1.bias": (10,),
    }


async def test_the_starting_file_runs_as_it_is(federation, tmp_path):
    task = write_starting_file(tmp_path / "mine.py").task
    initial = initial_model(task, {}, seed=0)
    homes = await finished(
        federation, task, initial, run_of(task, initial, 2, 1.0, local_epochs=5), tmp_path
    )
    assert homes[0].summary.test.accuracy > 0.9


async def test_a_client_with_another_frozen_part_does_not_join(federation, tmp_path):
    """Its model would be another one, whatever the average says."""
    initial = initial_model(LAST_LAYER, {}, seed=0)
    await federation.start(initial, run_of(LAST_LAYER, initial, 1, 1.0))
    other = tmp_path / "other.py"
    other.write_text((EXAMPLES / "last_layer.py").read_text().replace("SEED = 20", "SEED = 21"))
    own = {"task": f"{other}:FineTuned", "accountant": "no-shuffle-rdp", "min_laplace_scale": 0.02}
    (home,) = await federation.homes("eve", **own)
    with home.client() as eve, pytest.raises(TaskError, match="constants are not the run's"):
        await drive(federation, eve)


def test_a_backbone_of_ones_own_is_loaded(tmp_path):
    torch.manual_seed(1)
    plain = initial_model(LAST_LAYER, {}, seed=0)
    parts = {
        "0.weight": torch.randn(64, 1, 3, 3),
        "4.weight": torch.randn(64, 1024),
    }
    torch.save(parts, tmp_path / "backbone.pt")
    given = initial_model(LAST_LAYER, {"backbone": "backbone.pt"}, 0, data_directory=tmp_path)
    assert given.spec.constants_sha256 != plain.spec.constants_sha256
    assert given.spec.tensors == plain.spec.tensors
