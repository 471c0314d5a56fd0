"""The made-up update is shuffled and encrypted as a client would do it."""

import base64

import numpy as np
import pytest
from gmpy2 import mpz

from fedperm_aggregator.dashboard.demonstration import GEOMETRY, Demonstrations
from fedperm_secret.schemes.paillier.decryption import Decryptor
from tests.aggregator.bench import Bench
from tests.dashboard.documents import document
from tests.dashboard.visitor import Visitor

pytestmark = pytest.mark.anyio


def matrix(text: str) -> np.ndarray:
    octets = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return octets.reshape(GEOMETRY.windows, -1)


def test_the_values_are_the_same_in_another_order(randomness, small_key):
    shown = Demonstrations(randomness).of(document(), small_key.public_key)
    for plain, shuffled in (
        (shown.plain, shown.shuffled),
        (shown.noised, shown.noised_shuffled),
    ):
        before, after = matrix(plain), matrix(shuffled)
        assert not np.array_equal(before, after)
        assert np.array_equal(np.sort(before), np.sort(after))
        assert np.array_equal(after[0], before[0][np.array(shown.mask)])
    assert shown.plain != shown.noised


def test_the_masks_are_encrypted_under_the_runs_key(randomness, small_key):
    shown = Demonstrations(randomness).of(document(), small_key.public_key)
    octets = base64.b64decode(shown.ciphertexts)
    size = shown.ciphertext_octets
    ciphertexts = [
        mpz(int.from_bytes(octets[start : start + size], "little"))
        for start in range(0, len(octets), size)
    ]
    assert len(set(ciphertexts)) == GEOMETRY.k1
    decryptor = Decryptor(small_key)
    assert [decryptor.decrypt(c) for c in ciphertexts] == [1 << row for row in shown.mask]


def test_without_a_key_or_noise_there_is_less_to_show(randomness):
    silent = document(noise={"clip": 0.1, "laplace_scale": 0.0}, norm_bound={"limit": 100.0})
    shown = Demonstrations(randomness).of(silent, None)
    assert (shown.noised, shown.noised_shuffled, shown.ciphertexts) == (None, None, None)


def test_noise_that_takes_long_to_draw_is_left_out(randomness):
    wide = document(
        noise={"clip": 0.1, "laplace_scale": 1000.0, "grid": 65536}, norm_bound={"limit": 1e9}
    )
    assert Demonstrations(randomness).of(wide, None).noised is None


async def test_a_run_shows_its_own_key(opened: Bench, visitor: Visitor):
    answer = await visitor.http.get("/dashboard/api/runs/digits/demonstration")
    assert answer.json()["ciphertext_octets"] == opened.pair().public_key.ciphertext_bytes
