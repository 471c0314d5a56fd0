"""It says and publishes whatever it likes. Clients believe no more than they must."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gmpy2 import powmod

from fedperm.aggregate import EncryptedSum, average_update, encode_aggregate
from fedperm.errors import AggregateError, BudgetError, LedgerError, UntrustedError
from fedperm.lineage import Lineage
from fedperm.privacy.ledger import Charge
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign, unverified
from fedperm.wire.statements import CheckpointStatement, ClientCertificate, EpochRecord
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    is_unaccounted,
)
from fedperm_client.ceilings import Ceilings
from fedperm_client.ending import Ending
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.errors import CeilingError, StateError
from fedperm_client.keyring import NewestEpoch
from fedperm_client.outbox import PreparedSubmission
from fedperm_client.participant import Participant
from fedperm_client.reports import IN_CLEAR
from fedperm_secret.reader_key import SealedPlace
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from tests.adversary.oracle import (
    PERMUTATIONS,
    picked,
    publish_own_sums,
    received,
    scene_of,
    traces,
)
from tests.cli.command_line import COMMAND
from tests.cli.hostile_server import HOSTILE, answering, on_a_terminal, problem
from tests.cli.test_hostile_text import check_is_shown_and_not_obeyed
from tests.client.cut_line import request_of
from tests.client.documents import document, rounds
from tests.client.federation import KEY, Federation, drive, settled
from tests.client.test_aggregate_checks import (
    CONTENT,
    PLAN,
    coded,
    forged,
    outcome,
    published,
    report,
)
from tests.client.test_command import variables
from tests.client.test_distrust import (
    AGGREGATE,
    DOCUMENT,
    OUTCOME,
    STRANGER,
    TASK,
    one_contributor,
    with_members,
    without_ada,
)
from tests.core.federation import folded, numbers, upload
from tests.documents.operator import IDENTITY, another_operators
from tests.keyserver.server import OPERATOR as KEY_OPERATOR
from tests.keyserver.server import MovingClock
from tests.ledger.test_ledger import DIGEST, LOUD, QUIET, start

pytestmark = pytest.mark.anyio
CONTENT_WITH_NOISE = document()
CEILINGS = {
    "max_epsilon": 1000.0,
    "delta": 1e-5,
    "accountant": "no-shuffle-rdp",
    "max_record_epsilon": None,
    "min_laplace_scale": 0.5,
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
    NewestEpoch(tmp_path / "newest.json").hear(2)
    restarted = NewestEpoch(tmp_path / "newest.json")
    restarted.check(2)
    with pytest.raises(UntrustedError, match="key epoch 1, but the key server has named 2"):
        restarted.check(1)


async def test_blocked_freezing_the_key_after_a_revocation(federation: Federation, caplog):
    """It goes on under epoch 1, of which the revoked client has the secret half, and takes no
    notice of what its clients tell it: it gets nothing more from them."""
    await federation.start_lines(rounds=rounds(count=4, give_up_after=4))
    ada, ben, _ = homes = await federation.line_homes("ada", "ben", "cleo")
    for home in (ada, ben):
        told = request_of("PUT", f"/declines/{home.name}")
        home.to_aggregator.refusals += [(told, 404)] * 4
    with ada.client() as one, ben.client() as two:
        with homes[2].client() as three:
            await three.step()
        await drive(federation, one, two, rounds=1)
        await federation.key_server.api.revoke_client(KEY, "cleo", KEY_OPERATOR)

        def deadline() -> None:
            federation.clock.advance(8.0)

        await drive(federation, one, two, meanwhile=deadline)
    for home in (ada, ben):
        assert [len(home.uploads(number)) for number in (1, 2, 3, 4)] == [1, 0, 0, 0]
        assert home.charges == 1
        assert [record.state.value for record in home.summary.history[1:]] == ["aborted"] * 3
    assert "round 4 is under key epoch 1, and the key has epoch 2" in caplog.text


async def test_blocked_changing_the_run_under_its_clients(federation: Federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        await one.step()
        await one.step()
    ada.to_aggregator.forgeries.append((DOCUMENT, another_operators(lambda _members: None)))
    with ada.client() as one, pytest.raises(StateError, match="belongs to another document"):
        await drive(federation, one)


async def test_blocked_writing_a_run_of_its_own(federation: Federation):
    """With its own operator's signature, or with none as under fedperm/2, to a client that was told
    whose run it is."""
    await federation.start_lines()

    def unsigned(octets: bytes) -> bytes:
        members = json.loads(octets)
        del members["operator"]
        return json.dumps(members | {"protocol": "fedperm/2"}).encode()

    pin = {"operator_fingerprint": IDENTITY.keys.fingerprint}
    own = another_operators(lambda _members: None)
    for name, forge in (("ada", own), ("ben", unsigned)):
        (home,) = await federation.line_homes(name, **pin)
        home.to_aggregator.forgeries.append((DOCUMENT, forge))
        with home.client() as one, pytest.raises(CeilingError, match="does not take part"):
            await drive(federation, one)


async def test_blocked_changing_what_the_operator_signed(federation: Federation):
    """Without a pin too: the document names who must have signed it."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    ada.to_aggregator.forgeries.append((DOCUMENT, lambda octets: octets + b"\n"))
    with ada.client() as one, pytest.raises(UntrustedError, match="is of another one"):
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


async def test_detected_calling_a_run_completed_too_soon(federation: Federation, caplog):
    """After round 1 of 2: the client ends, and its summary, log and exit code say how."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")

    def after_round_1(request: httpx.Request) -> bool:
        return TASK(request) and request.url.params["settled"] == "1"

    over = with_members(lambda task: task.update(kind="finish", run_state="completed"))
    ada.to_aggregator.forgeries.append((after_round_1, over))
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
        assert await one.run() is Ending.ENDED_EARLY
    assert (ada.summary.state, ada.summary.rounds) == ("ended early", 1)
    assert "calls the run completed after round 1 of 2: it ended early" in caplog.text


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


async def test_blocked_reading_positions_from_what_clients_report(
    federation: Federation, tmp_path: Path
):
    """It publishes sums of its own with a victim's masks in them. By default it has nothing to
    read: whatever it lets clients decrypt, they send it the same, in the same order."""
    asked = await scene_of(federation)
    publish_own_sums(asked, asked.homes[0])
    await asked.play()
    assert await asked.said(asked.homes[0]) is None
    plain = Federation(tmp_path, MovingClock())
    left_alone = await scene_of(plain)
    await left_alone.play()
    for one, other in zip(asked.homes, left_alone.homes, strict=True):
        assert one.summary.test != other.summary.test
        assert received(one) == received(other)
    plain.close()


async def test_not_covered_reading_positions_from_reports_in_the_clear(
    federation: Federation,
):
    """The same, where the owner wants reports in the clear: one loss tells the whole permutation,
    and the owner's privacy report had said that row 1 does not hold."""
    scene = await scene_of(federation)
    victim = scene.homes[0]
    base = publish_own_sums(scene, victim)
    await scene.play(reports="clear")
    told = await scene.said(victim)
    assert told is not None
    (found,) = picked(scene.losses(traces(base)), told.loss)
    assert PERMUTATIONS[found].tolist() == scene.permutation(victim)
    assert IN_CLEAR in victim.summary.privacy["notes"]
    assert victim.summary.reports == "clear"


async def test_blocked_driving_the_operators_terminal(tmp_path: Path):
    """Its refusals and reasons are shown as they are, and obeyed by no terminal."""
    (tmp_path / "token").write_text("secret")
    with answering({"/": problem(HOSTILE)}, status=409) as address:
        sent = on_a_terminal(
            [str(COMMAND), "run", "show", "demo"],
            {
                "FEDPERM_AGGREGATOR": address,
                "FEDPERM_RUN_OPERATOR_TOKEN_FILE": str(tmp_path / "token"),
            },
        )
    check_is_shown_and_not_obeyed(sent)


async def test_blocked_driving_a_clients_terminal(tmp_path: Path):
    """A client logs what servers answer."""
    with answering({"/": problem(HOSTILE)}, status=409) as address:
        settings = variables(tmp_path, KEYSERVER_URL=address, PATIENCE_SECONDS="0")
        sent = on_a_terminal([sys.executable, "-m", "fedperm_client"], settings)
    check_is_shown_and_not_obeyed(sent)


def test_blocked_comparing_models_by_what_clients_sign(small_key, randomness):
    """Two clients are shown aggregates of its choice, of which it wants to know whether they hold
    the same sum. They do: what the clients seal and sign is as unlike as if they did not."""
    key = EpochKey(2, small_key, CONTENT, randomness)
    before = Lineage.of_document("d0" * 32)
    sealed = [
        key.reader_key.seal(bytes(4096), SealedPlace("demo", "d0" * 32, lineage, 2))
        for lineage in (before.after(1, 2, "a1" * 32), before.after(1, 2, "a2" * 32))
    ]
    blocks = [{octets[i : i + 16] for i in range(0, len(octets), 16)} for octets in sealed]
    assert len(blocks[0]) == len(blocks[1]) == 4096 // 16 + 1
    assert not blocks[0] & blocks[1]


CHECKPOINT = request_of("GET", "/checkpoint")


def sealed_octets(request: httpx.Request) -> bool:
    return request.method == "GET" and "/checkpoint/" in request.url.path


async def vouched(federation: Federation, *clients: Participant, rounds: int) -> None:
    """Until they have settled and signed so many rounds."""
    await drive(federation, *clients, rounds=rounds)
    for client in clients * 2:
        await client.step()


def signed_by_fewer(members: dict[str, Any]) -> None:
    members["signed"] = members["signed"][:1]


def signed_twice_by_one(members: dict[str, Any]) -> None:
    members["signed"] = members["signed"][:1] * 2


def signed_by_a_stranger(members: dict[str, Any]) -> None:
    one = members["signed"][0]
    one["statement"] = sign(unverified(one["statement"], CheckpointStatement), STRANGER)


def certified_by_a_stranger(members: dict[str, Any]) -> None:
    """An unknown client, with a key of its own and a certificate of its own making."""
    one = members["signed"][0]
    certificate = unverified(one["certificate"], ClientCertificate)
    own = certificate.model_copy(update={"signing_key": text_of(STRANGER.public_key())})
    one["certificate"] = sign(own, STRANGER)
    signed_by_a_stranger(members)


def of_another_round(members: dict[str, Any]) -> None:
    members["round"] -= 1


def of_another_model(members: dict[str, Any]) -> None:
    members["sha256"] = "5e" * 32


def of_another_lineage(members: dict[str, Any]) -> None:
    members["lineage"] = "5e" * 32


def by_one_alone(members: dict[str, Any]) -> None:
    del members["included"][1:]


def aborted(members: dict[str, Any]) -> None:
    members["state"] = "aborted"


def under_a_later_key(members: dict[str, Any]) -> None:
    members["epoch"] = 2


def counting_twice(members: dict[str, Any]) -> None:
    members["included"].append(members["included"][0])


THIRD = request_of("GET", "/rounds/3")
OFFERS = [
    (THIRD, with_members(aborted), "round 3, which the aggregator has not published"),
    (THIRD, with_members(under_a_later_key), "no round 3 before key epoch 1"),
    (THIRD, with_members(counting_twice), "counts clients twice"),
    (CHECKPOINT, with_members(signed_by_fewer), "1 of the 2 contributors"),
    (CHECKPOINT, with_members(signed_twice_by_one), "1 of the 2 contributors"),
    (CHECKPOINT, with_members(signed_by_a_stranger), "not signed by the expected key"),
    (CHECKPOINT, with_members(certified_by_a_stranger), "not signed by the expected key"),
    (CHECKPOINT, with_members(of_another_round), "has signed another checkpoint"),
    (CHECKPOINT, with_members(of_another_model), "has signed another checkpoint"),
    (CHECKPOINT, with_members(of_another_lineage), "has signed another checkpoint"),
    (THIRD, with_members(by_one_alone), "had 1 contributors, at least 2"),
    (sealed_octets, lambda body: body[:-1] + bytes([body[-1] ^ 1]), "not the one that was signed"),
]


async def test_detected_offering_a_late_joiner_another_checkpoint(federation: Federation):
    """At each lie the joiner stops and keeps nothing; it starts when it is told the truth."""
    await federation.start_lines(rounds=rounds(count=4))
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two:
        await vouched(federation, one, two, rounds=3)
        for request, forge, problem in OFFERS:
            cleo.to_aggregator.forgeries[:] = [(request, forge)]
            lied_to = pytest.raises((AggregateError, UntrustedError), match=problem)
            with cleo.client() as three, lied_to:
                for _ in range(4):
                    await three.step()
            with cleo.client() as three:
                await three.step()
                await three.step()
                assert settled(three) == 0
        cleo.to_aggregator.forgeries.clear()
        with cleo.client() as three:
            await drive(federation, one, two, three)
    assert cleo.summary.parameters_sha256 == ada.summary.parameters_sha256
    assert min(record.round for record in cleo.summary.history) == 4


async def test_blocked_starting_a_late_joiner_from_a_revoked_majoritys_checkpoint(
    federation: Federation,
):
    """They were revoked, and go on signing for the aggregator. Their certificates are good for
    ever, but they have no key of the newest epoch to seal with."""
    await federation.start_lines(rounds=rounds(count=4))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await vouched(federation, one, two, rounds=3)
    for name in ("ada", "ben"):
        await federation.key_server.api.revoke_client(KEY, name, KEY_OPERATOR)
    (cleo,) = await federation.line_homes("cleo")
    with cleo.client() as three:
        for _ in range(8):
            await three.step()
        assert settled(three) == 0
    assert len(cleo.to_aggregator.sent(CHECKPOINT)) > 2
    assert not cleo.to_aggregator.sent(sealed_octets)


async def test_not_covered_starting_a_late_joiner_where_most_contributors_want(
    federation: Federation,
):
    """Two of two contributors are the aggregator's: they sign a model of their own."""
    frozen = await federation.start_lines(rounds=rounds(count=4))
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=2)
        for home, client in ((ada, one), (ben, two)):
            run = client.stage.run
            run.checkpoint = replace(run.checkpoint, parameters=np.array([5.0, -5.0]))
            await client.step()
            await client.step()
            assert home.to_aggregator.sent(request_of("PUT", f"/checkpoints/{home.name}"))
    with cleo.client() as three:
        for _ in range(3):
            await three.step()
        assert settled(three) == 2
        assert three.stage.run.checkpoint.document == frozen.sha256
        assert np.array_equal(three.stage.run.checkpoint.parameters, [5.0, -5.0])
