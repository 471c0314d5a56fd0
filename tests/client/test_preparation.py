"""From a movement to an upload: what the aggregator and a decryptor find in it."""

from random import Random

import numpy as np
import pytest

from fedperm.aggregate import average_update
from fedperm.privacy.release import noise_of
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.preparation import Preparation
from tests.client.documents import document
from tests.core.federation import checked, decrypted_sum, folded, stored_update

NO_NOISE = document(noise={"clip": 0.1, "laplace_scale": 0.0})


@pytest.fixture
def key(small_key) -> EpochKey:
    return EpochKey(1, small_key, NO_NOISE, Random(6))


def prepared(content, movement, key, seed=5) -> bytes:
    preparation = Preparation.of(content, noise_of(content), Random(seed))
    return preparation.encrypt(preparation.randomize(movement), key)


def test_without_noise_an_upload_decrypts_to_the_movement(key, small_key, tmp_path):
    movement = np.linspace(-0.1, 0.1, 650)
    (tmp_path / "u").write_bytes(prepared(NO_NOISE, movement, key))
    plan = NO_NOISE.plan
    public = small_key.public_key
    total = folded([stored_update(tmp_path / "u", plan, public)], plan, public)
    found = average_update(decrypted_sum(total, plan, small_key), 1, plan, 0.1)
    assert np.abs(found - movement).max() <= 2 * 0.1 * plan.fixed_point.step


def test_values_are_shuffled_within_their_windows(key, small_key):
    """The same values in another order: 130 different ones do not fall into place by chance."""
    movement = np.linspace(-0.1, 0.1, 650)
    body = prepared(NO_NOISE, movement, key)
    sent = checked(body, NO_NOISE.plan, small_key.public_key)["values"]
    for window in sent.astype(int):
        assert np.diff(window).min() < 0
        assert np.abs(np.diff(np.sort(window))).max() <= 3


def test_noise_has_the_documents_scale(small_key):
    """The variance of Laplace noise of scale b is 2 b^2; four deviations over 650 values."""
    content = document()
    key = EpochKey(1, small_key, content, Random(6))
    body = prepared(content, np.zeros(650), key)
    sent = checked(body, content.plan, small_key.public_key)["values"]
    noise = content.plan.fixed_point.low + content.plan.fixed_point.step * sent.astype(float) - 0.5
    assert noise.var() == pytest.approx(2 * 0.5**2, rel=4 * (5 / 650) ** 0.5)


def test_every_preparation_draws_afresh(key):
    first, second = (prepared(document(), np.zeros(650), key, seed) for seed in (1, 2))
    assert len(first) == len(second)
    assert first != second
