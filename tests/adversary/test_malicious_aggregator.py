"""It says and publishes whatever it likes. Clients believe no more than they must."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gmpy2 import powmod

from fedperm.aggregate import EncryptedSum, average_update, encode_aggregate
from fedperm.errors import AggregateError, BudgetError, LedgerError, UntrustedError
from fedperm.privacy.ledger import Charge
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.signed import sign, unverified
from fedperm.wire.statements import EpochRecord
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    is_unaccounted,
)
from fedperm_client.ceilings import Ceilings
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.errors import CeilingError, StateError
from fedperm_client.keyring import NewestEpoch
from fedperm_client.outbox import PreparedSubmission
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from tests.client.cut_line import request_of
from tests.client.documents import document, rounds
from tests.client.federation import Federation, drive
from tests.client.test_aggregate_checks import (
    CONTENT,
    PLAN,
    coded,
    forged,
    outcome,
    published,
    report,
)
from tests.client.test_distrust import (
    AGGREGATE,
    DOCUMENT,
    OUTCOME,
    STRANGER,
    one_contributor,
    with_members,
    without_ada,
)
from tests.core.federation import folded, numbers, upload
from tests.ledger.test_ledger import DIGEST, LOUD, QUIET, start

pytestmark = pytest.mark.anyio
CONTENT_WITH_NOISE = document()
CEILINGS = {
    "max_epsilon": 1000.0,
    "delta": 1e-5,
    "accountant": "no-shuffle-rdp",
    "max_record_epsilon": None,
    "min_key_bits": 512,
    "min_contributors": 2,
    "min_window": 2,
    "insecure_for_tests": True,
}


@pytest.fixture
def key(small_key, randomness) -> EpochKey:
    return EpochKey(2, small_key, CONTENT, randomness)


async def test_blocked_handing_out_another_public_key(federation: Federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")

    def resign(members: dict[str, Any]) -> None:
        for epoch in members["epochs"]:
            epoch["record"] = sign(unverified(epoch["record"], EpochRecord), STRANGER)

    ada.to_aggregator.forgeries.append((request_of("GET", "/key-epochs"), with_members(resign)))
    with ada.client() as one, pytest.raises(UntrustedError, match="not signed by the expected key"):
        await drive(federation, one)
    assert ada.charges == 0


def test_blocked_falling_back_to_an_old_key(tmp_path: Path):
    """Of which a revoked client has the secret half; in any run, also after a restart."""
    NewestEpoch(tmp_path / "newest.json").advance(2)
    restarted = NewestEpoch(tmp_path / "newest.json")
    restarted.check(2)
    with pytest.raises(UntrustedError, match="key epoch 1, but this client has used 2"):
        restarted.check(1)


async def test_blocked_changing_the_run_under_its_clients(federation: Federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        await one.step()
        await one.step()
    ada.to_aggregator.forgeries.append((DOCUMENT, lambda octets: octets + b"\n"))
    with ada.client() as one, pytest.raises(StateError, match="belongs to another document"):
        await drive(federation, one)


async def test_blocked_starting_clients_from_another_model(federation: Federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    change = request_of("GET", "/initial-model"), lambda body: body[:-1] + bytes([body[-1] ^ 1])
    ada.to_aggregator.forgeries.append(change)
    with ada.client() as one, pytest.raises(UntrustedError, match="initial model is not the one"):
        await drive(federation, one)


def test_blocked_asking_for_more_privacy_than_a_client_gives(tmp_path: Path):
    """A run beyond its ceilings is not joined; beyond its budget no round is charged."""
    with pytest.raises(CeilingError, match="its rounds cost epsilon"):
        Ceilings(**CEILINGS | {"max_epsilon": 0.1}).check(CONTENT_WITH_NOISE)
    Ceilings(**CEILINGS).check(CONTENT_WITH_NOISE)
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 1, LOUD, DIGEST))
    with pytest.raises(BudgetError):
        ledger.charge(Charge("another run", 1, LOUD, DIGEST))


def test_blocked_asking_for_a_second_draw_of_noise(tmp_path: Path):
    """It denies that an update came: the prepared bytes may be sent again, others may not."""
    ledger = start(tmp_path)
    ledger.charge(Charge("run", 1, QUIET, DIGEST))
    ledger.charge(Charge("run", 1, QUIET, DIGEST))
    with pytest.raises(LedgerError):
        ledger.charge(Charge("run", 1, QUIET, "6b" * 32))
    assert len(ledger.charges()) == 1


def test_blocked_publishing_one_clients_update_with_its_true_count(tmp_path, key):
    body = published(tmp_path, key, values=(600,))
    alone = outcome(body, contributors=1, included=("alice",))
    with pytest.raises(AggregateError, match="at least 2 are wanted"):
        averaged(body, alone, CONTENT, key, min_contributors=1)


def test_detected_publishing_one_clients_update_with_another_count(tmp_path, key):
    body = published(tmp_path, key, values=(600,))
    with pytest.raises(AggregateError, match="another count than its outcome"):
        averaged(body, outcome(body), CONTENT, key, min_contributors=2)


def test_not_covered_publishing_one_clients_update_scaled_to_the_count(
    tmp_path, key, small_key, randomness
):
    """Squared ciphertexts hold twice the values: the mean of "two clients" is Alice's update."""
    public = small_key.public_key
    alice = upload(coded(600), PLAN, SecretBlinding(small_key), tmp_path / "a", randomness)
    rows = numbers(folded([alice], PLAN, public).arrays)
    twice = [powmod(c, 2, public.n_squared) for row in rows for c in row]
    arrays = {"ciphertexts": public.to_array(twice, len(rows), len(rows[0]))}
    body = encode_aggregate(EncryptedSum(arrays, 2), PLAN)
    shown = averaged(body, outcome(body), CONTENT, key, min_contributors=2)
    alone = average_update(coded(600).astype(np.int64), 1, PLAN, CONTENT.noise.clip)
    assert np.array_equal(shown, alone)


def test_not_covered_publishing_numbers_of_its_own(key):
    """It has the public key: an aggregate of two in which nobody had a part."""
    body = forged(key, 1)
    averaged(body, outcome(body), CONTENT, key, min_contributors=2)


def test_not_covered_publishing_another_sum_to_each_client(tmp_path, key):
    bodies = []
    for number, values in enumerate([(600, 500), (400, 500)]):
        (tmp_path / str(number)).mkdir()
        bodies.append(published(tmp_path / str(number), key, values))
    first, second = (averaged(b, outcome(b), CONTENT, key, min_contributors=2) for b in bodies)
    assert not np.array_equal(first, second)


LIES = [
    (OUTCOME, with_members(without_ada), "leaves out this client's acknowledged update"),
    (OUTCOME, with_members(one_contributor), r"sum of 1 client\(s\) .* at least 2"),
    (AGGREGATE, lambda body: body[:-1] + bytes([body[-1] ^ 1]), "not the one of its outcome"),
    (AGGREGATE, lambda body: body + bytes(1), "answered with more than"),
]


async def test_detected_publishing_a_wrong_outcome(federation: Federation):
    """The client stops at each lie, applies nothing, and goes on when it is told the truth."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        for request, forge, problem in LIES:
            ada.to_aggregator.forgeries[:] = [(request, forge)]
            lied_to = pytest.raises((AggregateError, UntrustedError), match=problem)
            with ada.client() as one, lied_to:
                await drive(federation, one, two)
        ada.to_aggregator.forgeries.clear()
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


def test_detected_counting_an_update_that_a_client_never_sent():
    with pytest.raises(AggregateError, match="this client did not send"):
        check_members(outcome(), CONTENT, "alice", may_have_sent=False)


def test_detected_publishing_a_slot_that_no_clients_can_fill(key):
    body = forged(key, 2 * 1023 + 1)
    with pytest.raises(AggregateError, match="more than its contributors"):
        averaged(body, outcome(body), CONTENT, key, min_contributors=2)


def test_not_covered_leaving_a_client_out_with_an_invented_reason(tmp_path: Path):
    sent = PreparedSubmission(tmp_path / "sent", 2, UPDATE.name, 2, acknowledged=True)
    without = outcome(included=("bob", "carol"))
    assert is_unaccounted(without, "alice", sent)
    check_explanation(report(SubmissionState.REJECTED, "invented"), 2)


async def test_not_covered_never_opening_a_round(federation: Federation):
    """Nothing tells it from an aggregator that waits for others."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        for _ in range(20):
            await one.step()
        assert not one.is_finished
    assert ada.charges == 0
