"""What every upload form must do under every scheme: exact sums, bounded norms, refusals."""

import pickle
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from fedperm.aggregate import check_sums
from fedperm.blobs.memory import MemoryBlobStore
from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef
from fedperm.errors import BlobError, MessageError
from fedperm.norm_bound import NormBound
from fedperm.planner import plan
from fedperm.schemes.scheme import OnProgress, Scheme
from fedperm.uploads.form import Accepted, SummedUp, UpdateTerms, UploadForm, examine
from fedperm.uploads.registry import UPLOAD_FORMS
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from tests.core.federation import IN_THIS_PROCESS, random_values
from tests.uploads.conftest import FORMS

_keys = {}


def key_of(scheme: Scheme):
    """One for all tests: to draw it takes long."""
    if scheme.name not in _keys:
        _keys[scheme.name] = SECRET_SCHEMES[scheme.name].generate(scheme, Random(5))
    return _keys[scheme.name]


class Round:
    """One round of a form, from coded values to decrypted sums."""

    def __init__(
        self, form: UploadForm, scheme: Scheme, bound: NormBound | None = None, value_bits: int = 11
    ) -> None:
        shape = plan(d=50, k1=20, k2=2, clients=3, value_bits=value_bits, scheme=scheme)
        key = key_of(scheme)
        half = scheme.public_half(key.public_key, shape.layout)
        self.terms = UpdateTerms(form, shape, bound, half)
        self.store, self.randomness = MemoryBlobStore("uploads"), Random(1)
        self._secret = SECRET_SCHEMES[scheme.name].secret_half(key, shape.layout)
        self.encoder = self._secret.encoder(self.randomness)
        self.told: dict[str, list[tuple[int, int]]] = {}

    def values(self) -> NDArray[np.integer]:
        return random_values(self.terms.plan, self.randomness)

    def body(self, coded: NDArray[np.integer]) -> bytes:
        terms = self.terms
        arrays = terms.form.prepare(coded, terms.plan, self.encoder, self.randomness)
        return terms.body.encode(arrays)

    def upload(self, name: str, coded: NDArray[np.integer]) -> tuple[BlobRef, Accepted]:
        stored = self.store.write(name, self.body(coded))
        return stored, examine(open_blob(stored).view(), self.terms)

    def sum_up(self, members: Sequence[BlobRef]) -> SummedUp:
        return self.terms.form.sum_up(
            members, self.terms, IN_THIS_PROCESS, self.randomness, self._teller
        )

    def opened(self, members: Sequence[BlobRef]) -> NDArray[np.int64]:
        total = self.sum_up(members).total
        sums = self._secret.decrypt(total.arrays)
        check_sums(sums, total.contributors, self.terms.plan)
        return sums

    def _teller(self, phase: str) -> OnProgress:
        return lambda *how_far: self.told.setdefault(phase, []).append(how_far)


@pytest.fixture
def one(form: UploadForm, scheme: Scheme) -> Round:
    return Round(form, scheme)


def test_every_registered_form_is_under_contract(form):
    assert set(FORMS) == set(UPLOAD_FORMS.names)
    assert UPLOAD_FORMS[form.name] is form


@pytest.mark.parametrize("value_bits", [1, 8, 9, 17, 20])
def test_the_sum_is_exact_to_the_last_unit(form, scheme, value_bits):
    one = Round(form, scheme, value_bits=value_bits)
    coded = [one.values() for _ in range(3)]
    members = [one.upload(str(number), values)[0] for number, values in enumerate(coded)]
    expected = np.sum([values.astype(np.int64) for values in coded], axis=0)
    assert np.array_equal(one.opened(members), expected)
    assert one.sum_up(members[:2]).total.contributors == 2


def test_loud_updates_count_as_the_bound_leaves_them(form, scheme):
    one = Round(form, scheme, NormBound(3.0))
    loud = np.full_like(one.values(), one.terms.plan.fixed_point.top)
    quiet = np.full_like(loud, one.terms.plan.fixed_point.top // 2)
    uploads = [one.upload(name, values) for name, values in (("loud", loud), ("quiet", quiet))]
    of_loud, of_quiet = (accepted.norms for _, accepted in uploads)
    assert of_loud.bounded
    assert of_loud.before > 3.0 >= of_loud.after > 2.5
    assert not of_quiet.bounded
    fixed_point = one.terms.plan.fixed_point
    bounded = one.terms.bound.apply(loud, fixed_point).values.astype(np.int64)
    assert np.array_equal(one.opened([stored for stored, _ in uploads]), bounded + quiet)


def test_without_a_bound_no_norm_is_told(one):
    assert one.upload("ada", one.values())[1].norms is None


def test_every_upload_has_the_length_that_the_plan_gives(one):
    bodies = {one.body(one.values()) for _ in range(3)}
    assert {len(body) for body in bodies} == {one.terms.body.size}


def test_the_same_values_are_shuffled_anew_for_each_upload(one):
    coded = one.values()
    assert len({one.body(coded) for _ in range(3)}) == 3


def refusing(octets: bytes, terms: UpdateTerms) -> set[str]:
    """The names of the checks that do not let this upload pass."""
    arrays, names = terms.body.decode(octets), set()
    for check in terms.form.checks:
        try:
            check.look(arrays, terms)
        except MessageError:
            names.add(check.name)
    return names


def test_a_tensor_of_ones_is_refused_or_opens_to_a_possible_sum(one):
    """And every check refuses one of them, so that none is there for nothing."""
    right, refused = one.body(one.values()), set()
    assert not refusing(right, one.terms)
    for tensor in one.terms.body.tensors:
        start = one.terms.body.offset_of(tensor.name)
        wrong = right[:start] + b"\xff" * tensor.size + right[start + tensor.size :]
        by = refusing(wrong, one.terms)
        if by:
            with pytest.raises(MessageError):
                examine(memoryview(wrong), one.terms)
        else:
            one.opened([one.store.write(tensor.name, wrong)])
        refused |= by
    assert refused == {check.name for check in one.terms.form.checks}


def test_every_check_has_a_name_and_a_reason(form):
    names = [check.name for check in form.checks]
    assert names
    assert len(set(names)) == len(names)
    assert all(len(check.reason) > 20 for check in form.checks)


def test_an_upload_that_changed_after_it_was_accepted_is_not_summed(one):
    stored, _ = one.upload("ada", one.values())
    one.store.write("ada", one.body(one.values()))
    with pytest.raises(BlobError):
        one.sum_up([stored])


def test_progress_of_both_phases_is_told_to_its_end(one):
    one.sum_up([one.upload(name, one.values())[0] for name in ("ada", "ben")])
    assert set(one.told) == {"fold", "rerandomise"}
    for told in one.told.values():
        assert told[-1][0] == told[-1][1] > 0


def test_worker_processes_can_be_given_the_terms(one):
    assert pickle.loads(pickle.dumps(one.terms)).body == one.terms.body  # noqa: S301
