"""The law everything rests on: the decrypted aggregate is the integer sum, to the last unit."""

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import gmpy2
import numpy as np
import phe
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.aggregate import EncryptedSum
from fedperm.errors import BlobError, ParameterError, TooManyClientsError
from fedperm.planner import plan
from fedperm.schemes.paillier.blinding import BlindingPool, PublicBlinding
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.scheme import Paillier
from fedperm.workers import worker_processes
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import public_key_to_phe, secret_key_to_phe
from tests.core.federation import (
    IN_THIS_PROCESS,
    as_windows,
    decrypted_sum,
    federate,
    folded,
    half_of,
    numbers,
    random_values,
    stored_update,
    terms_of,
    upload,
)

plans = st.builds(
    plan,
    d=st.integers(1, 60),
    k1=st.integers(1, 40),
    k2=st.integers(1, 5),
    clients=st.integers(1, 6),
    value_bits=st.integers(1, 20),
    scheme=st.just(Paillier(512)),
)


@given(plan=plans, data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=80)
def test_the_decrypted_aggregate_is_the_integer_sum(plan, data, seed, small_key):
    randomness = Random(seed)
    contributors = data.draw(st.integers(1, plan.layout.clients))
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
    shape = plan(d=d, k1=k1, k2=k2, clients=clients, value_bits=11, scheme=Paillier(512))
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
    shape = plan(d=5, k1=5, k2=1, clients=2, value_bits=4, scheme=Paillier(512))
    source = SecretBlinding(small_key)
    coded = random_values(shape, randomness)
    updates = [upload(coded, shape, source, tmp_path / str(u), randomness) for u in range(3)]
    with pytest.raises(TooManyClientsError, match="3 contributions"):
        folded(updates, shape, small_key.public_key)


def test_folding_in_parts_in_processes_equals_folding_at_once(small_key, tmp_path, randomness):
    shape = plan(d=90, k1=8, k2=3, clients=5, value_bits=9, scheme=Paillier(512))
    source = SecretBlinding(small_key)
    clients = [random_values(shape, randomness) for _ in range(5)]
    updates = [
        upload(coded, shape, source, tmp_path / str(u), randomness)
        for u, coded in enumerate(clients)
    ]
    half = half_of(shape, small_key.public_key)
    progress: list[tuple[int, int]] = []
    with worker_processes(2) as workers:
        first, _ = half.fold(updates[:2], workers)
        rest, _ = half.fold(
            updates[2:], workers, on_progress=lambda done, jobs: progress.append((done, jobs))
        )
        total = half.combine([first, rest])
        published, _ = half.rerandomise(total, randomness, workers)
    at_once = folded(updates, shape, small_key.public_key)
    assert numbers(total) == numbers(at_once.arrays)
    assert numbers(published) != numbers(total)
    expected = sum(coded.astype(np.int64) for coded in clients)
    assert np.array_equal(decrypted_sum(EncryptedSum(published, 5), shape, small_key), expected)
    assert progress == [(done, len(progress)) for done in range(1, len(progress) + 1)]
    assert len(progress) >= 4


def test_rerandomising_blinds_every_ciphertext_afresh(small_key, tmp_path, randomness):
    shape = plan(d=30, k1=10, k2=1, clients=1, value_bits=8, scheme=Paillier(512))
    source = SecretBlinding(small_key)
    update = upload(random_values(shape, randomness), shape, source, tmp_path / "u", randomness)
    key = small_key.public_key
    half, total = half_of(shape, key), folded([update], shape, key).arrays
    published, _ = half.rerandomise(total, randomness, IN_THIS_PROCESS)
    factors = [
        after * gmpy2.invert(before, key.n_squared) % key.n_squared
        for before, after in zip(flat(total), flat(published), strict=True)
    ]
    decryptor = Decryptor(small_key)
    assert [decryptor.decrypt(factor) for factor in factors] == [0] * len(factors)
    assert len(set(factors)) == len(factors)
    again, _ = half.rerandomise(total, randomness, IN_THIS_PROCESS)
    assert not set(flat(again)) & set(flat(published))


def flat(arrays) -> list[mpz]:
    return [number for row in numbers(arrays) for number in row]


def test_a_client_without_p_and_q_takes_part(small_key, tmp_path, randomness):
    shape = plan(d=20, k1=7, k2=2, clients=2, value_bits=6, scheme=Paillier(512))
    clients = [random_values(shape, randomness) for _ in range(2)]
    sources = [SecretBlinding(small_key), PublicBlinding(small_key.public_key)]
    updates = [
        upload(coded, shape, source, tmp_path / str(u), randomness)
        for u, (coded, source) in enumerate(zip(clients, sources, strict=True))
    ]
    total = folded(updates, shape, small_key.public_key)
    expected = sum(coded.astype(np.int64) for coded in clients)
    assert np.array_equal(decrypted_sum(total, shape, small_key), expected)


@pytest.mark.parametrize(
    ("d", "k1", "clients", "value_bits", "cut_by_memory"),
    [(20 * 12_000, 20, 2, 8, True), (600, 300, 15, 8, False), (4500, 4500, 2, 1, False)],
)
def test_large_folds_are_done_in_parts(
    d, k1, clients, value_bits, cut_by_memory, small_key, tmp_path, randomness
):
    """12,000 windows do not fit one job's buckets; 15 columns of 300, or one of 4,500, are more
    than are read at once. All clients send the same upload, so one encryption serves the test."""
    shape = plan(d=d, k1=k1, k2=1, clients=clients, value_bits=value_bits, scheme=Paillier(512))
    coded = random_values(shape, randomness)
    update = upload(coded, shape, SecretBlinding(small_key), tmp_path / "u", randomness)
    jobs: list[int] = []
    arrays, _ = half_of(shape, small_key.public_key).fold(
        [update] * clients,
        IN_THIS_PROCESS,
        on_progress=lambda _, jobs_in_all: jobs.append(jobs_in_all),
    )
    total = EncryptedSum(arrays, clients)
    assert (jobs[0] > shape.layout.packing.groups) is cut_by_memory
    assert np.array_equal(decrypted_sum(total, shape, small_key), clients * coded.astype(np.int64))


def test_a_stored_upload_that_lost_bytes_is_noticed(small_key, tmp_path, randomness):
    shape = plan(d=20, k1=10, k2=1, clients=1, value_bits=6, scheme=Paillier(512))
    coded = random_values(shape, randomness)
    update = upload(coded, shape, SecretBlinding(small_key), tmp_path / "u", randomness)
    (tmp_path / "u").write_bytes((tmp_path / "u").read_bytes()[:-70])
    with pytest.raises(BlobError, match="has changed since it was accepted"):
        folded([update], shape, small_key.public_key)


def test_a_plan_for_another_key_size_is_refused_everywhere(small_key, tmp_path, randomness):
    shape = plan(d=20, k1=10, k2=1, clients=1, value_bits=6, scheme=Paillier(512))
    coded = random_values(shape, randomness)
    update = upload(coded, shape, SecretBlinding(small_key), tmp_path / "u", randomness)
    other = plan(d=20, k1=10, k2=1, clients=1, value_bits=6, scheme=Paillier(1024))
    for use in (
        lambda: folded([update], other, small_key.public_key),
        lambda: upload(coded, other, SecretBlinding(small_key), tmp_path / "v", randomness),
        lambda: half_of(other, small_key.public_key),
    ):
        with pytest.raises(ParameterError, match="a key of 512 bits for a plan of 1024 bits"):
            use()


def test_masks_of_no_permutation_are_refused(small_key, randomness):
    shape = plan(d=3, k1=3, k2=1, clients=1, value_bits=6, scheme=Paillier(512))
    encoder = MaskEncoder(shape.layout, BlindingPool(SecretBlinding(small_key), randomness))
    for patterns in ([np.array([0, 0, 2])], [np.array([0, 1, 2])] * 2, [np.array([0, 1])], []):
        with pytest.raises(ParameterError, match="permutation"):
            encoder.encode(patterns)


def test_heavy_geometry_is_exact(small_key, tmp_path, randomness):
    """All ten patterns of the paper's heavy setting, at a short key, one upload sent twice."""
    shape = plan(d=7850, k1=800, k2=10, clients=2, value_bits=5, scheme=Paillier(512))
    coded = random_values(shape, randomness)
    update = upload(coded, shape, SecretBlinding(small_key), tmp_path / "u", randomness)
    total = folded([update] * 2, shape, small_key.public_key)
    assert np.array_equal(decrypted_sum(total, shape, small_key), 2 * coded.astype(np.int64))


@pytest.mark.parametrize("key_bits", [3072, 4096])
def test_longer_keys_are_exact(key_bits, tmp_path, randomness):
    key = stored_key(key_bits)
    shape = plan(d=50, k1=20, k2=2, clients=2, value_bits=11, scheme=Paillier(key_bits))
    clients = [random_values(shape, randomness) for _ in range(2)]
    total = federate(clients, shape, key, tmp_path, randomness)
    assert np.array_equal(total, sum(coded.astype(np.int64) for coded in clients))


def stored_key(key_bits: int) -> SecretKey:
    """Safe primes made once by generate_key: making them takes up to a minute."""
    document = json.loads((Path(__file__).parent / "long_keys.json").read_text())[str(key_bits)]
    return SecretKey(mpz(document["p"], 16), mpz(document["q"], 16))


class TestAtFullSize:
    """2048-bit keys, python-paillier as the independent implementation."""

    SHAPE = plan(d=450, k1=150, k2=2, clients=3, value_bits=11)

    def test_light_geometry_is_exact(self, key_2048: SecretKey, tmp_path, randomness):
        light = plan(d=7850, k1=400, k2=1, clients=2, value_bits=11)
        clients = [random_values(light, randomness) for _ in range(2)]
        total = federate(clients, light, key_2048, tmp_path, randomness)
        assert np.array_equal(total, sum(coded.astype(np.int64) for coded in clients))

    def test_our_aggregate_decrypts_with_phe(self, key_2048: SecretKey, tmp_path, randomness):
        clients = [random_values(self.SHAPE, randomness) for _ in range(3)]
        source = SecretBlinding(key_2048)
        updates = [
            upload(coded, self.SHAPE, source, tmp_path / str(u), randomness)
            for u, coded in enumerate(clients)
        ]
        total = folded(updates, self.SHAPE, key_2048.public_key)
        oracle = secret_key_to_phe(key_2048, SECRET_KEY_ACCESS)
        expected = sum(coded.astype(np.int64) for coded in clients)
        for window, row in enumerate(numbers(total.arrays)):
            packed = [oracle.raw_decrypt(int(ciphertext)) for ciphertext in row]
            assert slots_by_hand(packed, self.SHAPE) == expected[window].tolist()

    def test_masks_encrypted_by_phe_aggregate_here(self, key_2048, tmp_path, randomness):
        coded = random_values(self.SHAPE, randomness)
        path = tmp_path / "phe.safetensors"
        path.write_bytes(update_by_phe(coded, self.SHAPE, key_2048, randomness))
        update = stored_update(path, self.SHAPE, key_2048.public_key)
        total = folded([update], self.SHAPE, key_2048.public_key)
        assert np.array_equal(decrypted_sum(total, self.SHAPE, key_2048), coded)


def slots_by_hand(packed: list[int], shape) -> list[int]:
    """The slots of a window's groups, by integer division."""
    packing = shape.layout.packing
    base = 2**packing.slot_bits
    rows = []
    for group, plaintext in enumerate(packed):
        left = plaintext
        for _ in range(min(packing.slots, shape.geometry.k1 - group * packing.slots)):
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
        for group in range(shape.layout.packing.groups):
            for i in pi:
                own, slot = divmod(i, shape.layout.packing.slots)
                plaintext = 2 ** (shape.layout.packing.slot_bits * slot) if own == group else 0
                octets += public.raw_encrypt(plaintext).to_bytes(width, "little")
    masks = np.frombuffer(octets, np.uint8).reshape(
        shape.geometry.patterns, shape.layout.packing.groups, shape.geometry.k1, width
    )
    return terms_of(shape, key.public_key).body.encode({"values": shuffled, "masks": masks})
