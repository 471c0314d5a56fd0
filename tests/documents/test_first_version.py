"""What was hashed or signed under fedperm/1 cannot be written anew, and is read for good."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt import PyJWS

from fedperm.axes import Axes
from fedperm.errors import ParameterError, UntrustedError
from fedperm.run_document import FrozenDocument
from fedperm.schemes.paillier.scheme import Paillier
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord, SchemeSpec

DOCUMENT = {
    "protocol": "fedperm/1",
    "run": "demo",
    "task": {"name": "digits", "options": {}},
    "model": {"tensors": [{"name": "w", "shape": [10, 65]}], "initial_sha256": "a" * 64},
    "training": {"learning_rate": 0.5},
    "shuffle": {"k1": 130, "k2": 5},
    "noise": {"clip": 0.1, "laplace_scale": 1.7},
    "value_bits": 8,
    "norm_bound": {"limit": 100.0},
    "rounds": {
        "count": 20,
        "clients_per_round": 5,
        "min_contributors": 3,
        "start_with": 5,
        "deadline_seconds": 60.0,
        "extension_seconds": 30.0,
    },
    "key": {"key": "demo", "key_bits": 2048, "signing_key": "B" * 42 + "A"},
}
"""As the first version wrote it."""


def octets(**changes) -> bytes:
    return json.dumps(DOCUMENT | changes).encode()


def test_a_document_of_the_first_version_is_the_papers_own_system():
    frozen = FrozenDocument(octets())
    assert frozen.sha256 == hashlib.sha256(octets()).hexdigest()
    assert frozen.content.axes == Axes()
    assert frozen.content.scheme == Paillier(2048)
    assert frozen.content.protocol == "fedperm/1"


@pytest.mark.parametrize(
    "changes",
    [
        {"axes": {}},
        {"key": {"key": "demo", "parameters": {"key_bits": 2048}, "signing_key": "B" * 42 + "A"}},
        {"protocol": "fedperm/2"},
        {"protocol": "fedperm/0"},
        {"key": 5},
    ],
)
def test_the_two_versions_are_not_mixed(changes):
    with pytest.raises(ParameterError, match="document is wrong"):
        FrozenDocument(octets(**changes))


def test_a_document_of_a_newer_version_is_refused_by_its_name():
    """Whatever else it holds: nothing in it can be judged here."""
    with pytest.raises(ParameterError) as refused:
        FrozenDocument(octets(protocol="fedperm/4", axes={"new": 1}))
    assert refused.value.message == (
        "the run's document is of fedperm/4, this program knows versions up to fedperm/3"
    )
    assert refused.value.hint == "upgrade this program"


def test_a_record_signed_under_the_first_version_is_read(small_key):
    """Signed as text: what is verified is what was signed, not what is made of it."""
    signing = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = small_key.public_key
    members = {"key": "demo", "epoch": 3, "key_bits": 512, "n": f"{public.n:x}"}
    payload = json.dumps({**members, "key_id": public.key_id, "iat": 7}).encode()
    headers = {"typ": EpochRecord.typ}
    text = PyJWS(algorithms=["EdDSA"]).encode(payload, signing, "EdDSA", headers)
    record = verify(text, EpochRecord, signing.public_key())
    assert (record.scheme, record.keys) == (SchemeSpec.of_bits(512), "shared")
    assert record.public_key(insecure_for_tests=True) == public
    with pytest.raises(UntrustedError):
        verify(text, EpochRecord, Ed25519PrivateKey.generate().public_key())
