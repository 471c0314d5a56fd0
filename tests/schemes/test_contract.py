"""What every scheme must do, whichever it is: exact sums, round trips, refusals in words."""

import copy
import pickle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedperm.aggregate import EncryptedSum, check_sums, decode_aggregate, encode_aggregate
from fedperm.blobs.files import FileBlobStore
from fedperm.blobs.registry import open_blob
from fedperm.errors import FedPermError, KeyStrengthError, ParameterError, TooManyClientsError
from fedperm.norm_bound import NormBound
from fedperm.planner import Plan, plan
from fedperm.schemes.registry import SCHEMES, make_scheme
from fedperm.schemes.scheme import MaskedValues, Scheme, StoredUpload
from fedperm.uploads.form import UpdateTerms, examine
from fedperm.uploads.masks import MASKS
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from fedperm_secret.schemes.scheme import SecretKey
from tests.core.federation import IN_THIS_PROCESS, random_values
from tests.schemes.small import SMALL

FIXTURE_IS_A_CONSTANT = settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_keys: dict[str, SecretKey] = {}


def key_of(scheme: Scheme) -> SecretKey:
    """One for all tests: to draw it takes long."""
    if scheme.name not in _keys:
        _keys[scheme.name] = SECRET_SCHEMES[scheme.name].generate(scheme, Random(5))
    return _keys[scheme.name]


class Round:
    """One round of a scheme, from coded values to decrypted sums, with files in between."""

    def __init__(self, scheme: Scheme, shape: Plan, folder: Path, seed: int = 1) -> None:
        self.shape, self.store, self.randomness = shape, FileBlobStore(folder), Random(seed)
        key = key_of(scheme)
        self.half = scheme.public_half(key.public_key, shape.layout)
        self.secret = SECRET_SCHEMES[scheme.name].secret_half(key, shape.layout)
        self.terms = UpdateTerms(MASKS, shape, NormBound(1e9), self.half)

    def upload(self, name: str, coded) -> MaskedValues:
        encoder = self.secret.encoder(self.randomness)
        arrays = MASKS.prepare(coded, self.shape, encoder, self.randomness)
        body = self.terms.body
        stored = self.store.write(name, body.encode(arrays))
        examine(open_blob(stored).view(), self.terms)
        offsets = {tensor.name: body.offset_of(tensor.name) for tensor in body.tensors}
        return MaskedValues(StoredUpload(stored, offsets), arrays["values"])

    def uploads(self, count: int) -> tuple[list[MaskedValues], np.ndarray]:
        """So many clients, and the sum of what they hold."""
        coded = [random_values(self.shape, self.randomness) for _ in range(count)]
        expected = np.sum([values.astype(np.int64) for values in coded], axis=0)
        return [self.upload(str(i), values) for i, values in enumerate(coded)], expected


def small(scheme: Scheme, **changes) -> Plan:
    members = {"d": 50, "k1": 20, "k2": 2, "clients": 3, "value_bits": 9}
    return plan(**(members | changes), scheme=scheme)


def test_every_registered_scheme_is_under_contract(scheme):
    assert set(SMALL) == set(SCHEMES.names)
    assert scheme.name in SECRET_SCHEMES.names


@FIXTURE_IS_A_CONSTANT
@given(
    d=st.integers(1, 60),
    k1=st.integers(1, 40),
    k2=st.integers(1, 4),
    value_bits=st.integers(1, 20),
    clients=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_the_sum_is_exact_to_the_last_unit(scheme, d, k1, k2, value_bits, clients, seed):
    shape = small(scheme, d=d, k1=k1, k2=k2, value_bits=value_bits, clients=clients)
    with TemporaryDirectory() as folder:
        one = Round(scheme, shape, Path(folder), seed)
        updates, expected = one.uploads(clients)
        total, _ = one.half.fold(updates, IN_THIS_PROCESS)
        published, _ = one.half.rerandomise(total, one.randomness, IN_THIS_PROCESS)
    body = encode_aggregate(EncryptedSum(published, clients), shape)
    received = decode_aggregate(body, shape, one.half)
    sums = one.secret.decrypt(received.arrays)
    check_sums(sums, clients, shape)
    assert np.array_equal(sums, expected)


def test_parts_in_any_order_give_the_same_sum(scheme, tmp_path):
    one = Round(scheme, small(scheme), tmp_path)
    updates, expected = one.uploads(3)
    first, _ = one.half.fold(updates[:1], IN_THIS_PROCESS)
    rest, _ = one.half.fold(updates[:0:-1], IN_THIS_PROCESS)
    for parts in ([first, rest], [rest, first]):
        assert np.array_equal(one.secret.decrypt(one.half.combine(parts)), expected)


def test_progress_is_told_to_its_end(scheme, tmp_path):
    one = Round(scheme, small(scheme), tmp_path)
    updates, _ = one.uploads(2)
    told: list[tuple[int, int]] = []
    total, work = one.half.fold(updates, IN_THIS_PROCESS, lambda *how_far: told.append(how_far))
    assert told == [(done, len(told)) for done in range(1, len(told) + 1)]
    assert one.shape.layout.weight(work.counts) > 0
    told.clear()
    one.half.rerandomise(total, one.randomness, IN_THIS_PROCESS, lambda *how: told.append(how))
    assert told[-1][0] == told[-1][1]


def test_more_than_planned_and_none_at_all_are_refused(scheme, tmp_path):
    one = Round(scheme, small(scheme, clients=1), tmp_path)
    updates, _ = one.uploads(2)
    with pytest.raises(TooManyClientsError, match="2 contributions"):
        one.half.fold(updates, IN_THIS_PROCESS)
    with pytest.raises(ParameterError, match="no update"):
        one.half.fold([], IN_THIS_PROCESS)


def test_what_is_published_shows_the_sum_and_not_how_it_was_made(scheme, tmp_path):
    if scheme.key_bits == 0:
        pytest.skip("a scheme that protects nothing has nothing to hide")
    one = Round(scheme, small(scheme), tmp_path)
    updates, expected = one.uploads(2)
    total, _ = one.half.fold(updates, IN_THIS_PROCESS)
    twice = [one.half.rerandomise(total, one.randomness, IN_THIS_PROCESS)[0] for _ in range(2)]
    for published in twice:
        assert np.array_equal(one.secret.decrypt(published), expected)
    for name, before in total.items():
        rows = [np.reshape(a, (-1, a.shape[-1])) for a in (before, twice[0][name], twice[1][name])]
        for row in zip(*rows, strict=True):
            assert len({octets.tobytes() for octets in row}) == 3


def test_only_permutations_are_encoded(scheme, tmp_path):
    one = Round(scheme, small(scheme, d=6, k1=3, k2=1), tmp_path)
    encoder = one.secret.encoder(one.randomness)
    right = np.array([2, 0, 1])
    assert {tensor.name for tensor in one.shape.layout.masks} == set(encoder.encode([right]))
    for patterns in ([np.array([0, 0, 2])], [right] * 2, [np.array([0, 1])], []):
        with pytest.raises(ParameterError, match="permutation"):
            encoder.encode(patterns)


def test_what_is_made_ahead_is_used_once(scheme, tmp_path):
    one = Round(scheme, small(scheme), tmp_path)
    encoder = one.secret.encoder(one.randomness)
    assert encoder.ready == 0
    encoder.fill(encoder.ahead)
    assert encoder.ready == encoder.ahead
    MASKS.prepare(random_values(one.shape, one.randomness), one.shape, encoder, one.randomness)
    assert encoder.ready == 0
    with encoder.filling():
        assert encoder.ready <= encoder.ahead


def test_the_public_key_alone_is_enough_to_encrypt(scheme, tmp_path):
    one = Round(scheme, small(scheme, d=6, k1=3, k2=1, clients=1), tmp_path)
    coded = random_values(one.shape, one.randomness)
    public = Round(scheme, one.shape, tmp_path)
    public.secret = one.half  # it has an encoder, too
    total, _ = one.half.fold([public.upload("u", coded)], IN_THIS_PROCESS)
    assert np.array_equal(one.secret.decrypt(total), coded)


def test_equal_wishes_have_equal_layouts_that_explain_themselves(scheme):
    one, same, other = small(scheme).layout, small(scheme).layout, small(scheme, d=51).layout
    assert one == same
    assert one != other
    assert one.reasons
    assert one.facts
    costs = one.costs(workers=2)
    assert costs.ciphertexts >= costs.units > 0
    assert costs.sums > 0
    assert costs.fold_weight > 0
    assert min(costs.client_octets, costs.worker_octets) > 0


def test_workers_can_be_sent_what_they_need(scheme, tmp_path):
    one = Round(scheme, small(scheme), tmp_path)
    assert pickle.loads(pickle.dumps(one.terms.half)) == one.terms.half  # noqa: S301


def test_a_public_key_travels_in_a_record(scheme):
    key = key_of(scheme).public_key
    assert scheme.public_key(key.material) == key
    assert len(bytes.fromhex(key.key_id)) == 32
    other = SECRET_SCHEMES[scheme.name].generate(scheme, Random(6)).public_key
    assert other.key_id != key.key_id
    for wrong in ({}, {"x": "1"}, {**key.material, "more": "1"}):
        with pytest.raises(KeyStrengthError):
            scheme.public_key(wrong)


def test_parameters_travel_in_a_document(scheme):
    assert make_scheme(scheme.name, scheme.parameters, insecure_for_tests=True) == scheme
    with pytest.raises(ParameterError, match="parameter"):
        make_scheme(scheme.name, {**scheme.parameters, "colour": 3}, insecure_for_tests=True)
    with pytest.raises(FedPermError):  # these are for tests only
        make_scheme(scheme.name, scheme.parameters)


def test_a_secret_key_is_stored_and_read_with_the_capability_alone(scheme):
    secret_scheme, key = SECRET_SCHEMES[scheme.name], key_of(scheme)
    octets = secret_scheme.to_bytes(key, SECRET_KEY_ACCESS)
    read = secret_scheme.from_bytes(octets, scheme, SECRET_KEY_ACCESS)
    assert read.public_key == key.public_key
    for wrong in (b"", octets[:-9], b"{}", b"[" * 5000):
        with pytest.raises(KeyStrengthError):
            secret_scheme.from_bytes(wrong, scheme, SECRET_KEY_ACCESS)
    with pytest.raises(TypeError):
        secret_scheme.to_bytes(key, None)
    with pytest.raises(TypeError):
        secret_scheme.from_bytes(octets, scheme, None)


def test_whoever_holds_a_secret_stays_where_it_is(scheme, tmp_path):
    one = Round(scheme, small(scheme), tmp_path)
    for holder in (key_of(scheme), one.secret):
        for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                duplicate(holder)


def test_a_measuring_key_serves_a_round(scheme):
    key = SECRET_SCHEMES[scheme.name].measuring_key(scheme, Random(7))
    shape = small(scheme, clients=1)
    half = SECRET_SCHEMES[scheme.name].secret_half(key, shape.layout)
    half.warm_up()
    masks = (
        half.with_layout(shape.layout)
        .encoder(Random(8))
        .encode([np.arange(20)[::-1], np.arange(20)])
    )
    scheme.public_half(key.public_key, shape.layout).check_masks(masks)


def test_keys_and_layouts_of_another_scheme_are_refused(scheme):
    for name in SMALL:
        if name != scheme.name:
            other = make_scheme(name, SMALL[name], insecure_for_tests=True)
            key, layout = key_of(scheme), small(scheme).layout
            with pytest.raises(ParameterError, match="another scheme"):
                other.public_half(key.public_key, small(other).layout)
            with pytest.raises(ParameterError, match="another scheme"):
                other.public_half(key_of(other).public_key, layout)
            with pytest.raises(ParameterError, match="another scheme"):
                SECRET_SCHEMES[name].secret_half(key, small(other).layout)
