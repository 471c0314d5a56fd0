"""The law everything rests on: the decrypted aggregate is the integer sum, to the last unit."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import phe
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.aggregation import combine, fold, rerandomise
from fedperm.blinding import PublicBlinding
from fedperm.errors import TooManyClientsError
from fedperm.planner import plan
from fedperm.update import Update
from fedperm.wire.update import encode_update
from fedperm.workers import process_pool
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.fixed_base import SecretBlinding
from fedperm_secret.keys import SecretKey
from fedperm_secret.storage import public_key_to_phe, secret_key_to_phe
from tests.core.federation import (
    InlineExecutor,
    as_windows,
    decrypted_sum,
    federate,
    random_values,
    stored_update,
    upload,
)

plans = st.builds(
    plan,
    d=st.integers(1, 60),
    k1=st.integers(1, 40),
    k2=st.integers(1, 5),
    clients=st.integers(1, 6),
    value_bits=st.integers(1, 20),
    key_bits=st.just(512),
)


@given(plan=plans, data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=80)
def test_the_decrypted_aggregate_is_the_integer_sum(plan, data, seed, small_key):
    randomness = Random(seed)
    contributors = data.draw(st.integers(1, plan.packing.clients))
    value = st.integers(0, plan.fixed_point.top)
    position_values = st.lists(
        value, min_size=plan.geometry.padded_d, max_size=plan.geometry.padded_d
    )
    clients = [as_windows(data.draw(position_values), plan) for _ in range(contributors)]
    with TemporaryDirectory() as folder:
        total = federate(clients, plan, small_key, Path(folder), randomness)
    assert np.array_equal(total, sum(coded.astype(np.int64) for coded in clients))


@pytest.mark.parametrize("fill", ["zeros", "maximum", "spike", "random"])
@pytest.mark.parametrize(
    ("d", "k1", "k2", "clients"),
    [
        (12, 3, 1, 1),
        (12, 3, 2, 15),
        (7, 40, 1, 15),  # d < k1
        (101, 10, 3, 15),  # d not divisible
        (50, 50, 1, 15),  # the original FedPerm: k1 = d
        (9, 2, 9, 15),  # more patterns than windows
    ],
)
def test_edge_inputs_are_exact(d, k1, k2, clients, fill, small_key, tmp_path, randomness):
    shape = plan(d=d, k1=k1, k2=k2, clients=clients, value_bits=11, key_bits=512)
    positions = shape.geometry.padded_d
    top = shape.fixed_point.top
    spike = [top if position == positions - 1 else 0 for position in range(positions)]
    filled = {
        "zeros": as_windows([0] * positions, shape),
        "maximum": as_windows([top] * positions, shape),
        "spike": as_windows(spike, shape),
        "random": random_values(shape, randomness),
    }[fill]
    total = federate([filled] * clients, shape, small_key, tmp_path, randomness)
    assert np.array_equal(total, clients * filled.astype(np.int64))


def test_one_client_more_than_planned_is_refused(small_key, tmp_path, randomness):
    shape = plan(d=5, k1=5, k2=1, clients=2, value_bits=4, key_bits=512)
    source = SecretBlinding(small_key)
    coded = random_values(shape, randomness)
    updates = [upload(coded, shape, source, tmp_path / str(u), randomness) for u in range(3)]
    with pytest.raises(TooManyClientsError, match="3 contributions"):
        fold(updates, shape, small_key.public_key, InlineExecutor())
    first, _ = fold(updates[:2], shape, small_key.public_key, InlineExecutor())
    second, _ = fold(updates[2:], shape, small_key.public_key, InlineExecutor())
    with pytest.raises(TooManyClientsError, match="3 contributions"):
        combine([first, second], shape, small_key.public_key)


def test_folding_in_parts_in_processes_equals_folding_at_once(small_key, tmp_path, randomness):
    shape = plan(d=90, k1=8, k2=3, clients=5, value_bits=9, key_bits=512)
    source = SecretBlinding(small_key)
    clients = [random_values(shape, randomness) for _ in range(5)]
    updates = [
        upload(coded, shape, source, tmp_path / str(u), randomness)
        for u, coded in enumerate(clients)
    ]
    key = small_key.public_key
    progress: list[tuple[int, int]] = []
    with process_pool(2) as executor:
        first, _ = fold(updates[:2], shape, key, executor, workers=2)
        rest, _ = fold(
            updates[2:],
            shape,
            key,
            executor,
            workers=2,
            on_progress=lambda done, jobs: progress.append((done, jobs)),
        )
        total = combine([first, rest], shape, key)
        published, _ = rerandomise(total, key, randomness, executor)
    at_once, _ = fold(updates, shape, key, InlineExecutor())
    assert total == at_once
    assert published.ciphertexts != total.ciphertexts
    expected = sum(coded.astype(np.int64) for coded in clients)
    assert np.array_equal(decrypted_sum(published, shape, small_key), expected)
    assert progress == [(done, len(progress)) for done in range(1, len(progress) + 1)]
    assert len(progress) >= 4


def test_rerandomising_changes_every_ciphertext(small_key, tmp_path, randomness):
    shape = plan(d=30, k1=10, k2=1, clients=1, value_bits=8, key_bits=512)
    source = SecretBlinding(small_key)
    update = upload(random_values(shape, randomness), shape, source, tmp_path / "u", randomness)
    total, _ = fold([update], shape, small_key.public_key, InlineExecutor())
    published, _ = rerandomise(total, small_key.public_key, randomness, InlineExecutor())
    pairs = zip(sum(total.ciphertexts, ()), sum(published.ciphertexts, ()), strict=True)
    assert all(before != after for before, after in pairs)


def test_a_client_without_p_and_q_takes_part(small_key, tmp_path, randomness):
    shape = plan(d=20, k1=7, k2=2, clients=2, value_bits=6, key_bits=512)
    clients = [random_values(shape, randomness) for _ in range(2)]
    sources = [SecretBlinding(small_key), PublicBlinding(small_key.public_key)]
    updates = [
        upload(coded, shape, source, tmp_path / str(u), randomness)
        for u, (coded, source) in enumerate(zip(clients, sources, strict=True))
    ]
    total, _ = fold(updates, shape, small_key.public_key, InlineExecutor())
    expected = sum(coded.astype(np.int64) for coded in clients)
    assert np.array_equal(decrypted_sum(total, shape, small_key), expected)


class TestAtFullSize:
    """2048-bit keys, python-paillier as the independent implementation."""

    SHAPE = plan(d=450, k1=150, k2=2, clients=3, value_bits=11)

    def test_our_aggregate_decrypts_with_phe(self, key_2048: SecretKey, tmp_path, randomness):
        clients = [random_values(self.SHAPE, randomness) for _ in range(3)]
        source = SecretBlinding(key_2048)
        updates = [
            upload(coded, self.SHAPE, source, tmp_path / str(u), randomness)
            for u, coded in enumerate(clients)
        ]
        total, _ = fold(updates, self.SHAPE, key_2048.public_key, InlineExecutor())
        oracle = secret_key_to_phe(key_2048, SECRET_KEY_ACCESS)
        expected = sum(coded.astype(np.int64) for coded in clients)
        for window, row in enumerate(total.ciphertexts):
            packed = [oracle.raw_decrypt(int(ciphertext)) for ciphertext in row]
            assert slots_by_hand(packed, self.SHAPE) == expected[window].tolist()

    def test_masks_encrypted_by_phe_aggregate_here(self, key_2048, tmp_path, randomness):
        coded = random_values(self.SHAPE, randomness)
        path = tmp_path / "phe.safetensors"
        path.write_bytes(update_by_phe(coded, self.SHAPE, key_2048, randomness))
        update = stored_update(path, self.SHAPE, key_2048.public_key)
        total, _ = fold([update], self.SHAPE, key_2048.public_key, InlineExecutor())
        assert np.array_equal(decrypted_sum(total, self.SHAPE, key_2048), coded)


def slots_by_hand(packed: list[int], shape) -> list[int]:
    """The slots of a window's groups, by integer division."""
    base = 2**shape.packing.slot_bits
    rows = []
    for group, plaintext in enumerate(packed):
        left = plaintext
        for _ in range(min(shape.packing.slots, shape.geometry.k1 - group * shape.packing.slots)):
            left, slot = divmod(left, base)
            rows.append(slot)
        assert left == 0
    return rows


def update_by_phe(coded, shape, key: SecretKey, randomness: Random) -> bytes:
    """An upload whose masks are packed with plain integers and encrypted by python-paillier."""
    public: phe.PaillierPublicKey = public_key_to_phe(key.public_key)
    width = key.public_key.ciphertext_bytes
    shuffled, octets = np.empty_like(coded), b""
    for pattern in range(shape.geometry.patterns):
        pi = list(range(shape.geometry.k1))
        randomness.shuffle(pi)
        for window in range(pattern, shape.geometry.windows, shape.geometry.k2):
            shuffled[window] = [coded[window][i] for i in pi]
        for group in range(shape.packing.groups):
            for i in pi:
                own, slot = divmod(i, shape.packing.slots)
                plaintext = 2 ** (shape.packing.slot_bits * slot) if own == group else 0
                octets += public.raw_encrypt(plaintext).to_bytes(width, "little")
    masks = np.frombuffer(octets, np.uint8).reshape(
        shape.geometry.patterns, shape.packing.groups, shape.geometry.k1, width
    )
    return encode_update(Update(shuffled, masks), shape, key.public_key)
