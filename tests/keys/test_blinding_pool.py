"""A blinding factor leaves the pool once: two messages under one would show their difference."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.randomness import from_operating_system
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.keys.forked_pool import FILLED, TAKEN_BY_CHILD

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 30

SOURCE = SecretBlinding(generate_key(Random(12), 256, insecure_for_tests=True))

steps = st.lists(st.tuples(st.sampled_from(["fill", "take"]), st.integers(0, 12)), max_size=20)


def make_pool(seed: int = 1) -> BlindingPool:
    return BlindingPool(SOURCE, Random(seed))


def wait_for_length(pool: BlindingPool, length: int) -> None:
    """Returns as soon as the pool is so long; fails if it does not become so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause = threading.Event()
    while len(pool) != length:
        assert time.monotonic() < deadline, f"still {len(pool)} factors, expected {length}"
        pause.wait(0.001)


@given(steps=steps, seed=st.integers(0, 2**32))
def test_filling_adds_taking_removes_and_no_factor_comes_twice(steps, seed):
    pool, length, taken = make_pool(seed), 0, []
    for action, count in steps:
        if action == "fill":
            pool.fill(count)
            length += count
        else:
            factors = pool.take(count)
            assert len(factors) == count
            taken += factors
            length = max(0, length - count)
        assert len(pool) == length
    assert len(set(taken)) == len(taken)


def test_the_factors_taken_are_the_ones_that_were_filled_in():
    """Filling draws; taking what is there draws no more."""
    randomness = Random(1)
    drawn = [SOURCE.draw(randomness) for _ in range(5)]
    pool = make_pool(seed=1)
    pool.fill(5)
    assert sorted(pool.take(5)) == sorted(drawn)


def test_taking_more_than_the_pool_holds_makes_fresh_ones():
    pool = make_pool()
    pool.fill(3)
    assert len(set(pool.take(10))) == 10
    assert len(pool) == 0


def test_an_empty_pool_makes_what_is_asked_for():
    assert len(set(make_pool().take(4))) == 4


def test_a_pool_knows_the_public_key_of_its_factors():
    assert make_pool().public_key == SOURCE.public_key


@pytest.mark.parametrize("method", ["fill", "take"])
def test_a_negative_count_is_refused_and_changes_nothing(method):
    pool = make_pool()
    pool.fill(2)
    with pytest.raises(ParameterError, match="-1 blinding factors"):
        getattr(pool, method)(-1)
    assert len(pool) == 2


def test_a_forked_child_finds_an_empty_pool_and_makes_its_own_factors():
    run = subprocess.run(
        [sys.executable, "-m", "tests.keys.forked_pool"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    report = json.loads(run.stdout)
    child, parent = report["child"], report["parent"]
    assert child["length"] == 0
    assert len(set(child["factors"])) == TAKEN_BY_CHILD
    assert parent["length"] == FILLED
    assert set(child["factors"]).isdisjoint(parent["factors"])


def test_background_filling_reaches_its_target_and_refills_what_is_taken():
    pool = make_pool()
    with pool.filling(20):
        wait_for_length(pool, 20)
        taken = pool.take(15)
        wait_for_length(pool, 20)
    assert len(pool) == 20
    assert len({*taken, *pool.take(20)}) == 35


def test_background_filling_stops_when_the_block_is_left():
    pool, threads = make_pool(), threading.active_count()
    with pool.filling(5):
        wait_for_length(pool, 5)
        assert threading.active_count() == threads + 1
    assert threading.active_count() == threads
    pool.take(5)
    assert len(pool) == 0


def test_background_filling_stops_when_the_block_raises():
    pool, threads = make_pool(), threading.active_count()
    with pytest.raises(ZeroDivisionError), pool.filling(10**9):
        _ = 1 / 0
    assert threading.active_count() == threads


def test_background_filling_leaves_a_full_pool_alone():
    pool = make_pool()
    pool.fill(5)
    with pool.filling(3):
        pool.take(1)
        assert len(pool) == 4
    assert len(pool) == 4


def test_threads_that_take_at_once_never_share_a_factor():
    pool = BlindingPool(SOURCE, from_operating_system())
    pool.fill(300)
    start = threading.Barrier(4)

    def take_many(_):
        start.wait(PATIENCE_SECONDS)
        return [factor for _ in range(40) for factor in pool.take(3)]

    with pool.filling(50), ThreadPoolExecutor(4) as threads:
        taken = [factor for factors in threads.map(take_many, range(4)) for factor in factors]
    assert len(taken) == 4 * 40 * 3
    assert len(set(taken)) == len(taken)


class BrokenSource:
    """A source that fails when it is asked."""

    def __init__(self, public_key):
        self.public_key = public_key

    def draw(self, _randomness):
        raise OSError("no randomness")


def test_what_goes_wrong_while_filling_is_raised_at_the_end(small_key, randomness):
    pool = BlindingPool(BrokenSource(small_key.public_key), randomness)
    with pytest.raises(OSError, match="no randomness"), pool.filling(3):
        assert len(pool) == 0
