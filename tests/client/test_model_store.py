"""Checkpoints: parameters and their round in one file, whole or not there."""

import numpy as np
import pytest
import safetensors.numpy

from fedperm.run_document import ModelSpec, TensorSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import encode_model
from fedperm_client.errors import StateError
from fedperm_client.model_store import Checkpoint, ModelStore, export_model

DOCUMENT = "d" * 64
VALUES = np.array([0.1, -2.5, 1e-300, 3.0])


@pytest.fixture
def store(tmp_path) -> ModelStore:
    return ModelStore(tmp_path / "checkpoint.safetensors")


def test_a_checkpoint_comes_back_to_the_last_bit(store):
    store.save(Checkpoint(VALUES, 7, 2, DOCUMENT))
    loaded = store.load(DOCUMENT, parameters=4)
    assert loaded.parameters.tobytes() == VALUES.tobytes()
    assert (loaded.settled, loaded.epoch, loaded.document) == (7, 2, DOCUMENT)


def test_before_the_first_one_there_is_none(store):
    assert store.load(DOCUMENT, parameters=4) is None


def test_the_newest_one_replaces_the_others(store):
    for settled in (1, 2):
        store.save(Checkpoint(VALUES * settled, settled, 1, DOCUMENT))
    assert store.load(DOCUMENT, parameters=4).settled == 2


def test_the_hash_is_that_of_the_model_as_it_travels():
    assert Checkpoint(VALUES, 0, 0, DOCUMENT).sha256 == sha256_of(encode_model(VALUES))


def test_a_run_that_was_made_anew_is_not_continued(store):
    store.save(Checkpoint(VALUES, 7, 2, DOCUMENT))
    with pytest.raises(StateError, match="belongs to another document"):
        store.load("e" * 64, parameters=4)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 100,
        safetensors.numpy.save({"parameters": VALUES}),
        safetensors.numpy.save(
            {"weights": VALUES}, {"settled": "1", "epoch": "1", "document": "d"}
        ),
        safetensors.numpy.save(
            {"parameters": VALUES}, {"settled": "x", "epoch": "1", "document": "d"}
        ),
        safetensors.numpy.save(
            {"parameters": VALUES[:3]}, {"settled": "1", "epoch": "1", "document": DOCUMENT}
        ),
    ],
)
def test_a_damaged_checkpoint_is_refused_with_a_way_out(store, tmp_path, content):
    (tmp_path / "checkpoint.safetensors").write_bytes(content)
    with pytest.raises(StateError, match="is damaged") as refusal:
        store.load(DOCUMENT, parameters=4)
    assert "replays all rounds" in refusal.value.hint


def test_the_final_model_has_its_tensors_by_name(tmp_path):
    tensors = (TensorSpec(name="scale", shape=()), TensorSpec(name="weight", shape=(3, 1)))
    model = ModelSpec(tensors=tensors, initial_sha256="0" * 64)
    export_model(tmp_path / "model.safetensors", VALUES, model)
    loaded = safetensors.numpy.load_file(tmp_path / "model.safetensors")
    assert loaded["scale"].shape == ()
    assert loaded["scale"] == 0.1
    assert loaded["weight"].tolist() == [[-2.5], [1e-300], [3.0]]
