"""Masks that hold 10 where a 1 belongs, with real ciphertexts: nobody but the sum can tell."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from experiments.robustness.forged_masks import COUNTERWEIGHT, forged_update
from fedperm.errors import AggregateError
from fedperm.norm_bound import NormBound, honest_limit
from fedperm.permutation import draw_patterns
from fedperm.planner import plan
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.scheme import Paillier
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from tests.core.federation import decrypted_sum, folded, stored_update, terms_of, upload

SCALE = 1.0
PLAN = plan(d=150, k1=50, k2=2, clients=3, laplace_scale=SCALE, scheme=Paillier(512), value_bits=10)
MIDDLE = 512


def near_the_middle(seed: int) -> np.ndarray:
    """Coded values well within the bound."""
    drawn = np.random.default_rng(seed).integers(-20, 21, (3, 50))
    return (MIDDLE + drawn).astype(PLAN.fixed_point.dtype)


def sums(folder: Path, key, factor: int):
    """Two honest clients and a forger, checked, bounded, folded and decrypted by the product."""
    randomness = Random(9)
    source = SecretBlinding(key)
    honest = [
        upload(near_the_middle(u), PLAN, source, folder / f"{u}", randomness) for u in range(2)
    ]
    pool = BlindingPool(source, randomness)
    forged = forged_update(near_the_middle(2), factor, PLAN, pool, Random(8))
    path = folder / "forged"
    path.write_bytes(terms_of(PLAN, key.public_key).body.encode(forged))
    accepted = stored_update(path, PLAN, key.public_key)
    bound = NormBound(honest_limit(PLAN.geometry.padded_d, SCALE))
    assert not bound.apply(accepted.values, PLAN.fixed_point).was_bounded
    return decrypted_sum(folded([*honest, accepted], PLAN, key.public_key), PLAN, key)


def test_ten_for_one_walks_past_the_bound(tmp_path, small_key):
    patterns = draw_patterns(PLAN.geometry, Random(8))
    meant = near_the_middle(2).astype(np.int64)
    for window in range(PLAN.geometry.windows):
        meant[window, patterns[PLAN.geometry.pattern_of(window)][COUNTERWEIGHT]] = MIDDLE
    honest = near_the_middle(0).astype(np.int64) + near_the_middle(1)
    expected = honest + MIDDLE + 10 * (meant - MIDDLE)
    assert np.array_equal(sums(tmp_path, small_key, factor=10), expected)


def test_a_thousand_for_one_is_refused_by_whoever_decrypts_the_sum(tmp_path, small_key):
    with pytest.raises(AggregateError, match="slot"):
        sums(tmp_path, small_key, factor=1000)
