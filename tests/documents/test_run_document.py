"""The run's document: possible or refused, and hashed as it was sent."""

import hashlib
import json
from typing import Any

import pytest

from fedperm.errors import ParameterError
from fedperm.norm_bound import NormForm
from fedperm.run_document import LONGEST_DOCUMENT, FrozenDocument
from tests.documents.operator import OPERATOR_KEYS

DOCUMENT: dict[str, Any] = {
    "run": "demo",
    "task": {"name": "digits", "options": {"shards": 5}},
    "model": {
        "tensors": [{"name": "weight", "shape": [10, 64]}, {"name": "bias", "shape": [10]}],
        "initial_sha256": "0" * 64,
    },
    "training": {"learning_rate": 0.5},
    "shuffle": {"k1": 100, "k2": 2},
    "noise": {"clip": 0.1, "laplace_scale": 2.0},
    "value_bits": 8,
    "norm_bound": {"limit": 90.0},
    "rounds": {
        "count": 3,
        "clients_per_round": 5,
        "min_contributors": 3,
        "start_with": 5,
        "deadline_seconds": 60,
        "extension_seconds": 30,
    },
    "key": {"key": "demo", "parameters": {"key_bits": 2048}, "signing_key": "B" * 42 + "A"},
    "operator": OPERATOR_KEYS,
}


def changed(path: str, value: Any) -> bytes:
    document = json.loads(json.dumps(DOCUMENT))
    *folders, last = path.split(".")
    place = document
    for folder in folders:
        place = place[folder]
    place[last] = value
    return json.dumps(document).encode()


def test_a_document_says_everything_that_a_plan_needs():
    content = FrozenDocument(json.dumps(DOCUMENT).encode()).content
    plan = content.plan
    assert (plan.geometry.d, plan.geometry.k1, plan.geometry.k2) == (650, 100, 2)
    packing = plan.layout.packing
    assert (packing.clients, packing.value_bits, packing.key_bits) == (5, 8, 2048)
    assert plan.fixed_point.reach == 0.5 + 8 * 2.0
    assert content.bound is not None
    assert (content.bound.limit, content.bound.form) == (90.0, NormForm.CENTRED)


def test_the_hash_is_over_the_bytes_as_they_were_sent():
    compact, spaced = json.dumps(DOCUMENT).encode(), json.dumps(DOCUMENT, indent=3).encode()
    one, two = FrozenDocument(compact), FrozenDocument(spaced)
    assert one.content == two.content
    assert one.sha256 == hashlib.sha256(compact).hexdigest() != two.sha256


def test_a_document_survives_being_written_again():
    frozen = FrozenDocument(json.dumps(DOCUMENT).encode())
    again = FrozenDocument.of(frozen.content)
    assert again.content == frozen.content
    assert FrozenDocument(again.octets).sha256 == again.sha256


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("protocol", "fedperm/4", "knows versions up to"),
        ("unknown", 1, "unknown"),
        ("value_bits", "8", "value_bits"),
        ("value_bits", 21, "value_bits"),
        ("noise.laplace_scale", -1.0, "laplace_scale"),
        ("noise.laplace_scale", 1e-12, "Laplace scale"),
        ("noise.clip", 0.0, "clip"),
        ("shuffle.k1", 0, "k1"),
        ("norm_bound", None, "no norm bound"),
        ("norm_bound.limit", 0.5, "finer than"),
        ("norm_bound.form", "max", "form"),
        ("rounds.min_contributors", 6, "exceeds clients_per_round"),
        ("rounds.start_with", 2, "no round could succeed"),
        ("rounds.count", 0, "count"),
        ("key.parameters.key_bits", 1024, "1024 bits"),
        ("key.signing_key", "short", "signing_key"),
        ("operator.sealing_key", "A" * 43, "nothing can be sealed"),
        ("run", "Demo Run", "run"),
        ("model.tensors", [], "tensors"),
        ("model.tensors", [{"name": "w", "shape": [1 << 20, 1 << 20]}], "at most"),
        ("model.tensors", [{"name": "w", "shape": [1] * 65}], "at most 64"),
        ("training.record_clip_norm", -1.0, "record_clip_norm"),
    ],
)
def test_an_impossible_document_is_refused_in_words(path, value, words):
    with pytest.raises(ParameterError, match=words):
        FrozenDocument(changed(path, value))


@pytest.mark.parametrize("training", [{"local_epochs": 2}, {"batch_size": 64}], ids=str)
def test_records_are_protected_in_one_full_batch_step_only(training):
    wrong = {"learning_rate": 0.5, "record_clip_norm": 1.0, **training}
    with pytest.raises(ParameterError, match="one full-batch step"):
        FrozenDocument(changed("training", wrong))


def test_the_test_switch_admits_short_keys_and_no_bound():
    document = json.loads(changed("key.parameters.key_bits", 512))
    document |= {"norm_bound": None, "insecure_for_tests": True}
    content = FrozenDocument(json.dumps(document).encode()).content
    assert content.bound is None
    assert content.plan.layout.packing.key_bits == 512


@pytest.mark.parametrize("octets", [b"", b"[]", b"{", b"\xff", b"null", b"NaN"])
def test_what_is_no_document_is_refused(octets):
    with pytest.raises(ParameterError):
        FrozenDocument(octets)


def test_of_many_mistakes_some_are_told():
    with pytest.raises(ParameterError) as caught:
        FrozenDocument(changed("task.options", {f"{number}": [] for number in range(10_000)}))
    assert len(str(caught.value)) < 5_000


def test_a_document_has_a_length():
    with pytest.raises(ParameterError, match="keep it below"):
        FrozenDocument(b" " * (LONGEST_DOCUMENT + 1))
