"""What a client checks before it applies an average, and what it then applies."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from gmpy2 import mpz

from fedperm.aggregate import EncryptedSum, aggregate_body, encode_aggregate
from fedperm.errors import AggregateError, BodyError
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import (
    AggregateReference,
    RoundOutcome,
    RoundState,
    SubmissionReport,
    SubmissionState,
)
from fedperm.wire.digest import sha256_of
from fedperm.wire.statements import UPDATE_KIND
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    check_outcome,
    is_unaccounted,
)
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.model_store import Checkpoint
from fedperm_client.outbox import Outbox, PreparedSubmission
from tests.client.documents import document
from tests.core.federation import folded, stored_update

NO_NOISE = {"clip": 0.1, "laplace_scale": 0.0}
CONTENT = document(noise=NO_NOISE)
PLAN = CONTENT.plan
PACKING = PLAN.layout.packing
BEFORE = Checkpoint(np.zeros(650), 1, 2, "d" * 64)


def bounded_by(limit: float):
    return document(noise=NO_NOISE, norm_bound={"limit": limit})


@pytest.fixture(scope="module")
def key(small_key) -> EpochKey:
    return EpochKey(2, small_key, CONTENT, Random(6))


def coded(value: int):
    return np.full((PLAN.geometry.windows, PLAN.geometry.k1), value, PLAN.fixed_point.dtype)


def published(folder, key, values=(600, 500)) -> bytes:
    """The aggregate of clients that send one value everywhere, as an aggregator makes it."""
    public = key.terms.half.public_key
    updates = []
    for u, value in enumerate(values):
        arrays = key.terms.form.prepare(coded(value), PLAN, key.encoder, Random(u))
        (folder / str(u)).write_bytes(key.terms.body.encode(arrays))
        updates.append(stored_update(folder / str(u), PLAN, public))
    return encode_aggregate(folded(updates, PLAN, public), PLAN)


def outcome(body: bytes = b"", contributors: int = 2, **changes) -> RoundOutcome:
    members = {
        "round": 2,
        "state": RoundState.PUBLISHED,
        "epoch": 2,
        "selected": ("alice", "bob", "carol"),
        "included": ("alice", "bob"),
        "aggregate": AggregateReference(
            sha256=sha256_of(body), size=len(body), contributors=contributors
        ),
        "reason": "",
    }
    return RoundOutcome(**(members | changes))


@pytest.fixture
def body(tmp_path, key) -> bytes:
    return published(tmp_path, key)


@pytest.fixture
def own(tmp_path) -> PreparedSubmission:
    folder = tmp_path / "outbox"
    folder.mkdir()
    outbox = Outbox(folder)
    return outbox.acknowledge(outbox.put(UPDATE, 2, 2, b"upload"))


def test_the_average_is_that_of_the_contributors(body, key):
    """550 of 1023 steps: 2 * 0.1 * 550 / 1023 - 0.1 in each coordinate."""
    average = averaged(body, outcome(body), CONTENT, key, min_contributors=2)
    np.testing.assert_allclose(average, np.full(650, 0.2 * 550 / 1023 - 0.1))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"aggregate": None}, "not the one of its outcome"),
        ({"included": ("alice", "bob", "carol")}, r"sum of 2 client\(s\) and names 3"),
        ({"included": ("alice",)}, r"sum of 2 client\(s\) and names 1"),
    ],
)
def test_an_aggregate_must_be_that_of_its_outcome(body, key, change, problem):
    with pytest.raises(AggregateError, match=problem):
        averaged(body, outcome(body, **change), CONTENT, key, min_contributors=2)


def test_another_body_is_refused(body, key):
    other = body[:-1] + bytes([body[-1] ^ 1])
    with pytest.raises(AggregateError, match="not the one of its outcome"):
        averaged(other, outcome(body), CONTENT, key, min_contributors=2)


def test_the_clients_own_minimum_of_contributors_counts_too(body, key):
    with pytest.raises(AggregateError, match="at least 3 are wanted"):
        averaged(body, outcome(body), CONTENT, key, min_contributors=3)


def test_the_documents_minimum_of_contributors_counts_too(tmp_path, key):
    body = published(tmp_path, key, values=(600,))
    alone = outcome(body, contributors=1, included=("alice",))
    with pytest.raises(AggregateError, match="at least 2 are wanted"):
        averaged(body, alone, CONTENT, key, min_contributors=1)


def test_a_victims_update_passed_off_as_an_average_is_refused(tmp_path, key):
    """One client's sum under the count of two: the count in the body gives it away, and if that
    is forged as well, there is nothing to see but half of the victim's values."""
    body = published(tmp_path, key, values=(600,))
    with pytest.raises(AggregateError, match="another count than its outcome"):
        averaged(body, outcome(body), CONTENT, key, min_contributors=2)


def test_a_body_of_another_shape_is_refused(body, key):
    with pytest.raises(BodyError):
        averaged(body[:-8], outcome(body[:-8]), CONTENT, key, min_contributors=2)


def forged(key, plaintext: int) -> bytes:
    """An aggregate of two in which every ciphertext holds this plaintext."""
    return sum_of(key, [plaintext] * PACKING.groups)


def sum_of(key, plaintexts: list[int]) -> bytes:
    """An aggregate of two in which every window has these plaintexts in its groups."""
    public, windows = key.terms.half.public_key, PLAN.geometry.windows
    factor = public.blinding_factor(public.draw_unit(Random(3)))
    row = [public.encrypt(mpz(plaintext), factor) for plaintext in plaintexts]
    arrays = {"ciphertexts": public.to_array(row * windows, windows, PACKING.groups)}
    return encode_aggregate(EncryptedSum(arrays, 2), PLAN)


def test_a_slot_beyond_its_contributors_is_refused_without_showing_it(key):
    body = forged(key, 2 * 1023 + 1)
    with pytest.raises(AggregateError, match="more than its contributors") as refusal:
        averaged(body, outcome(body), CONTENT, key, min_contributors=2)
    assert "2047" not in str(refusal.value)


def test_an_average_beyond_the_norm_bound_is_refused_without_showing_it(key):
    """All slots at their top: each is possible, all together are longer than the bound."""
    full = sum((2 * 1023) << (PACKING.slot_bits * slot) for slot in range(PACKING.slots))
    last = PLAN.geometry.k1 - (PACKING.groups - 1) * PACKING.slots
    rest = full % (1 << (PACKING.slot_bits * last))
    body = sum_of(key, [full] * (PACKING.groups - 1) + [rest])
    with pytest.raises(AggregateError, match="longer than the run's norm bound") as refusal:
        averaged(body, outcome(body), bounded_by(5.0), key, min_contributors=2)
    assert not any(digit in refusal.value.message for digit in "0123456789")
    averaged(body, outcome(body), CONTENT, key, min_contributors=2)


def test_an_average_at_the_norm_bound_is_accepted(tmp_path, key):
    """Every update exactly at the bound, all alike: the mean is at the bound too."""
    value = 600
    norm = (value - 1023 / 2) * PLAN.fixed_point.step * PLAN.geometry.padded_d**0.5
    body = published(tmp_path, key, values=(value, value))
    averaged(body, outcome(body), bounded_by(norm), key, min_contributors=2)
    with pytest.raises(AggregateError, match="norm bound"):
        averaged(body, outcome(body), bounded_by(norm * 0.9999), key, min_contributors=2)


def test_the_next_rounds_outcome_is_accepted(own):
    check_outcome(outcome(), BEFORE, own)
    check_outcome(outcome(state=RoundState.ABORTED, aggregate=None), BEFORE, None)
    check_outcome(outcome(epoch=3), BEFORE, None)


@pytest.mark.parametrize(
    "change",
    [
        {"round": 1},
        {"round": 3},
        {"state": RoundState.OPEN},
        {"state": RoundState.SEALED},
        {"epoch": 1},
    ],
)
def test_any_other_outcome_is_refused(change):
    with pytest.raises(AggregateError):
        check_outcome(outcome(**change), BEFORE, None)


def test_the_epoch_must_be_that_of_the_own_update(own):
    with pytest.raises(AggregateError, match="not the one of this client's update"):
        check_outcome(outcome(epoch=3), BEFORE, own)


def test_members_were_asked_and_counted_once():
    check_members(outcome(), CONTENT, "alice", may_have_sent=True)
    check_members(outcome(), CONTENT, "carol", may_have_sent=False)
    for included in (("alice", "alice"), ("alice", "dave")):
        with pytest.raises(AggregateError, match="counts clients twice"):
            check_members(outcome(included=included), CONTENT, "carol", may_have_sent=False)


def test_no_more_clients_are_asked_than_the_document_says():
    many = ("alice", "bob", "carol", "dave")
    with pytest.raises(AggregateError, match="asked more clients"):
        check_members(outcome(selected=many), CONTENT, "alice", may_have_sent=True)


def test_an_update_that_was_not_sent_cannot_be_counted():
    with pytest.raises(AggregateError, match="this client did not send"):
        check_members(outcome(), CONTENT, "alice", may_have_sent=False)


def test_an_acknowledged_update_must_be_accounted_for(own):
    without = outcome(included=("bob", "carol"))
    assert is_unaccounted(without, "alice", own)
    assert not is_unaccounted(outcome(), "alice", own)
    assert not is_unaccounted(without, "alice", replace(own, acknowledged=False))
    assert not is_unaccounted(without, "alice", None)
    assert not is_unaccounted(outcome(state=RoundState.ABORTED, included=()), "alice", own)


def report(state: SubmissionState, reason: str) -> SubmissionReport:
    return SubmissionReport(
        kind=UPDATE_KIND,
        client="alice",
        state=state,
        reason=reason,
        size=1,
        received_at=0.0,
        norm_before=None,
        norm_after=None,
        bounded=None,
    )


def test_a_rejection_or_a_dropping_with_a_reason_explains_it():
    check_explanation(report(SubmissionState.REJECTED, "a value is out of range"), 2)
    check_explanation(report(SubmissionState.DROPPED, "the aggregator could not check it"), 2)


@pytest.mark.parametrize(
    "unsatisfactory",
    [
        report(SubmissionState.REJECTED, ""),
        report(SubmissionState.VALID, "late"),
        report(SubmissionState.DROPPED, ""),
        report(SubmissionState.STORED, "late"),
        report(SubmissionState.INCLUDED, ""),
    ],
)
def test_nothing_else_explains_it(unsatisfactory):
    with pytest.raises(AggregateError, match="without a reason"):
        check_explanation(unsatisfactory, 2)


def test_the_number_of_ciphertexts_is_fixed_by_the_document(key):
    assert aggregate_body(PLAN).size == len(forged(key, 0))
