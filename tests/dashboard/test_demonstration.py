"""The made-up update on the page is shuffled and encrypted as a client would do it."""

import base64
import json

import numpy as np
import pytest
from gmpy2 import mpz

from experiments.dashboard_picture import FILE, GEOMETRY, demonstration
from fedperm.schemes.registry import DEFAULT_SCHEME
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.registry import SECRET_SCHEMES


@pytest.fixture(scope="module")
def shown() -> dict:
    return json.loads(FILE.read_text())


def matrix(text: str) -> np.ndarray:
    octets = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return octets.reshape(GEOMETRY.windows, -1)


def test_the_file_is_what_the_code_makes(shown):
    """Otherwise: python -m experiments.dashboard_picture."""
    assert shown == demonstration()


def test_the_values_are_the_same_in_another_order(shown):
    for plain, shuffled in (("plain", "shuffled"), ("noised", "noised_shuffled")):
        before, after = matrix(shown[plain]), matrix(shown[shuffled])
        assert not np.array_equal(before, after)
        assert np.array_equal(np.sort(before), np.sort(after))
        assert np.array_equal(after[0], before[0][np.array(shown["mask"])])
    assert shown["plain"] != shown["noised"]


def test_the_masks_are_encrypted(shown, randomness):
    octets, size = base64.b64decode(shown["ciphertexts"]), shown["ciphertext_octets"]
    ciphertexts = [
        mpz(int.from_bytes(octets[start : start + size], "little"))
        for start in range(0, len(octets), size)
    ]
    assert len(set(ciphertexts)) == GEOMETRY.k1
    key = SECRET_SCHEMES[DEFAULT_SCHEME.name].measuring_key(DEFAULT_SCHEME, randomness)
    decryptor = Decryptor(key)
    assert [decryptor.decrypt(c) for c in ciphertexts] == [1 << row for row in shown["mask"]]
