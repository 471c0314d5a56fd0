"""A client believes neither server more than it must, and stops without applying or sending."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.errors import (
    AggregateError,
    BudgetError,
    LedgerError,
    UntrustedError,
)
from fedperm.privacy.events import Rounds
from fedperm.privacy.registry import NO_SHUFFLE
from fedperm.privacy.release import event_of
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign, unverified
from fedperm.wire.statements import EpochRecord
from fedperm_client.__main__ import exit_code
from fedperm_client.errors import CeilingError, StateError
from fedperm_client.model_store import ModelStore
from fedperm_client.taking_part import TakingPart
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import request_of
from tests.client.documents import LINES, lines_document, rounds
from tests.client.federation import Home, drive
from tests.documents.operator import IDENTITY, another_operators

pytestmark = pytest.mark.anyio

STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(32))
DOCUMENT = request_of("GET", "/runs/demo/document")
TASK = request_of("GET", "/participants/ada/task")
OUTCOME = request_of("GET", "/runs/demo/rounds/1")
AGGREGATE = request_of("GET", "/rounds/1/aggregate")


def with_members(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    """A forgery of JSON."""

    def forge(content: bytes) -> bytes:
        members = json.loads(content)
        change(members)
        return json.dumps(members).encode()

    return forge


async def joined(federation) -> int:
    answer = await federation.aggregator.api.participants("demo", RUN_OPERATOR)
    return len(answer.participants)


def checkpoint_of(home: Home):
    path = home.run_folder / "checkpoint.safetensors"
    sha256 = next(iter(home.to_aggregator.sent(request_of("PUT", "/participants/ada")))).content
    return ModelStore(path).load(json.loads(sha256)["document"], LINES.spec.parameters)


async def test_a_run_beyond_the_ceilings_is_not_joined(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada", max_epsilon=0.1, min_contributors=3)
    with ada.client() as one, pytest.raises(CeilingError, match=r"at least 3 .* at most 0.1"):
        await drive(federation, one)
    assert await joined(federation) == 0


def another_key_server(members: dict[str, Any]) -> None:
    members["key"]["signing_key"] = text_of(STRANGER.public_key())


def another_run(members: dict[str, Any]) -> None:
    members["run"] = "other"


@pytest.mark.parametrize(
    ("change", "problem"),
    [(another_key_server, "names another key server"), (another_run, "got the document of other")],
)
async def test_a_document_of_something_else_is_not_joined_whoever_signed_it(
    federation, change, problem
):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    ada.to_aggregator.forgeries.append((DOCUMENT, another_operators(change)))
    with ada.client() as one, pytest.raises(UntrustedError, match=problem):
        await drive(federation, one)
    assert await joined(federation) == 0


def fewer_rounds(members: dict[str, Any]) -> None:
    members["rounds"]["count"] = 1


async def test_a_document_that_its_operator_did_not_sign_is_not_joined(federation):
    """Without any pin: it names the operator, who has signed another one."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    ada.to_aggregator.forgeries.append((DOCUMENT, with_members(fewer_rounds)))
    with ada.client() as one, pytest.raises(UntrustedError, match="demo is of another one"):
        await drive(federation, one)
    assert await joined(federation) == 0


async def test_a_client_with_pins_joins_the_run_that_they_name(federation):
    frozen = await federation.start_lines()
    pins = {"document_sha256": frozen.sha256, "operator_fingerprint": IDENTITY.keys.fingerprint}
    (ada,) = await federation.line_homes("ada", **pins)
    with ada.client() as one:
        await one.step()
        await one.step()
    assert await joined(federation) == 1


@pytest.mark.parametrize(
    ("pins", "problem"),
    [
        ({"operator_fingerprint": IDENTITY.keys.fingerprint}, "its operator is [0-9a-f]{64}, "),
        ({"document_sha256": "0" * 64}, "its document is [0-9a-f]{64}, 0{64} is pinned"),
    ],
)
async def test_a_client_with_a_pin_refuses_everything_else(federation, pins, problem):
    """Although its signature is right."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada", **pins)
    ada.to_aggregator.forgeries.append((DOCUMENT, another_operators(fewer_rounds)))
    with ada.client() as one, pytest.raises(CeilingError, match=problem) as refusal:
        await drive(federation, one)
    assert exit_code(refusal.value) == 3
    assert await joined(federation) == 0


def of_the_second_version(members: dict[str, Any]) -> None:
    """Which nobody signs: a way around the signature, if there were no pins."""
    members["protocol"] = "fedperm/2"
    del members["operator"]


async def test_a_client_with_a_pin_refuses_an_old_document(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada", operator_fingerprint=IDENTITY.keys.fingerprint)
    ada.to_aggregator.forgeries.append((DOCUMENT, with_members(of_the_second_version)))
    with ada.client() as one, pytest.raises(CeilingError, match=r"fedperm/2, which no operator si"):
        await drive(federation, one)


async def test_another_initial_model_is_not_started_from(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    forgery = request_of("GET", "/initial-model"), lambda body: body[:-1] + bytes([body[-1] ^ 1])
    ada.to_aggregator.forgeries.append(forgery)
    with ada.client() as one, pytest.raises(UntrustedError, match="initial model is not the one"):
        await drive(federation, one)
    assert not (ada.run_folder / "checkpoint.safetensors").exists()
    assert await joined(federation) == 0


async def test_an_initial_model_of_more_octets_than_the_run_has_is_not_read(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    forgery = request_of("GET", "/initial-model"), lambda body: body + bytes(1)
    ada.to_aggregator.forgeries.append(forgery)
    with ada.client() as one, pytest.raises(UntrustedError, match="answered with more than"):
        await drive(federation, one)


async def test_a_public_key_of_the_aggregators_own_is_not_encrypted_under(federation):
    """A record with the right content and another signature."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")

    def resign(members: dict[str, Any]) -> None:
        for epoch in members["epochs"]:
            epoch["record"] = sign(unverified(epoch["record"], EpochRecord), STRANGER)

    forgery = request_of("GET", "/key-epochs"), with_members(resign)
    ada.to_aggregator.forgeries.append(forgery)
    with ada.client() as one, pytest.raises(UntrustedError, match="not signed by the expected key"):
        await drive(federation, one)
    assert await joined(federation) == 0


async def test_a_run_that_changes_under_a_client_is_left(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        await one.step()
        await one.step()
    ada.to_aggregator.forgeries.append((DOCUMENT, another_operators(fewer_rounds)))
    with ada.client() as one, pytest.raises(StateError, match="belongs to another document"):
        await drive(federation, one)


def ahead(members: dict[str, Any]) -> None:
    if members["kind"] == "train":
        members["round"] += 1


def unknown_epoch(members: dict[str, Any]) -> None:
    if members["kind"] == "train":
        members["epoch"] = 7


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (ahead, "asks for round 2 after round 0 of 2"),
        (unknown_epoch, "the key server has named 1 as the newest"),
    ],
)
async def test_a_task_that_makes_no_sense_is_not_done(federation, change, problem):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.forgeries.append((TASK, with_members(change)))
    with (
        ada.client() as one,
        ben.client() as two,
        pytest.raises(UntrustedError, match=problem),
    ):
        await drive(federation, one, two)
    assert ada.charges == 0


def without_ada(members: dict[str, Any]) -> None:
    members["included"] = ["ben", "cleo"]
    members["selected"] = ["ben", "cleo"]


def one_contributor(members: dict[str, Any]) -> None:
    members["included"] = ["ada"]
    members["aggregate"]["contributors"] = 1


def with_ada(members: dict[str, Any]) -> None:
    members["included"] = ["ada", "ben"]
    members["selected"] = ["ada", "ben"]


async def test_an_update_in_this_clients_name_that_it_never_sent_is_noticed(federation):
    """Cleo, not Ada, was in the round that Ada replays."""
    await federation.start_lines(rounds=rounds(count=1))
    ben, cleo = await federation.line_homes("ben", "cleo")
    with ben.client() as two, cleo.client() as three:
        await drive(federation, two, three)
    (ada,) = await federation.line_homes("ada")
    ada.to_aggregator.forgeries.append((OUTCOME, with_members(with_ada)))
    with ada.client() as one, pytest.raises(AggregateError, match="this client did not send"):
        await drive(federation, one)


LIES = [
    (OUTCOME, with_members(without_ada), "leaves out this client's acknowledged update"),
    (OUTCOME, with_members(one_contributor), r"sum of 1 client\(s\) .* at least 2"),
    (AGGREGATE, lambda body: body[:-1] + bytes([body[-1] ^ 1]), "not the one of its outcome"),
    (AGGREGATE, lambda body: body + bytes(1), "answered with more than"),
]


async def test_an_average_that_fails_a_check_is_not_applied_and_nothing_is_lost(federation):
    """The client stops at each lie, whenever it is started again, and goes on with the truth."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        for request, forge, problem in LIES:
            ada.to_aggregator.forgeries[:] = [(request, forge)]
            refused = pytest.raises((AggregateError, UntrustedError), match=problem)
            with ada.client() as one, refused:
                await drive(federation, one, two, rounds=1)
            assert checkpoint_of(ada).settled == 0
        ada.to_aggregator.forgeries.clear()
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


async def test_a_receipt_for_another_upload_is_not_believed(federation):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    other = with_members(lambda receipt: receipt.update(sha256="0" * 64))
    ada.to_aggregator.forgeries.append((request_of("PUT", "/updates/ada"), other))
    with (
        ada.client() as one,
        ben.client() as two,
        pytest.raises(UntrustedError, match="receipt of round 1 is for another update"),
    ):
        await drive(federation, one, two)


async def test_an_upload_that_comes_too_late_is_left_out_and_the_client_goes_on(federation, clock):
    """The deadline passes while the upload is under way."""
    await federation.start_lines(rounds=rounds(count=1, clients_per_round=3, start_with=3))
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")

    async def deadline() -> None:
        clock.advance(61)
        await federation.tick()

    with ada.client() as one, ben.client() as two, cleo.client() as three:
        while not (ben.uploads(1) and cleo.uploads(1)):
            for client, home in ((one, ada), (two, ben), (three, cleo)):
                if home is not ada or not client_has_joined(client):
                    await client.step()
            await federation.tick()
        ada.to_aggregator.meanwhile.append((request_of("PUT", "/updates/ada"), deadline))
        await drive(federation, one, two, three)
    (first,) = ada.summary.history
    assert (first.included, first.contributors) == (False, 2)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert ada.charges == 1


def client_has_joined(client) -> bool:
    return isinstance(client.stage, TakingPart)


async def test_a_spent_budget_ends_the_client_before_anything_leaves(federation):
    """Enough for three rounds in all: two of the first run, one of the second."""
    three = NO_SHUFFLE.guarantee(Rounds(event_of(lines_document()), 3), 1e-5).epsilon
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada", max_epsilon=three * 1.0001)
    (ben,) = await federation.line_homes("ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    await federation.start_run(LINES, lines_document(run="second"))
    with (
        ada.client(run="second") as one,
        ben.client(run="second") as two,
        pytest.raises(BudgetError, match="round 2 of run second") as refusal,
    ):
        await drive(federation, one, two)
    assert "0 rounds are left" in refusal.value.hint
    assert ada.charges == 3
    assert not list((ada.state / "runs" / "second" / "outbox").iterdir())
    sent = {
        request.url.path for request in ada.to_aggregator.sent(request_of("PUT", "/updates/ada"))
    }
    assert "/v1/runs/second/rounds/1/updates/ada" in sent
    assert "/v1/runs/second/rounds/2/updates/ada" not in sent


async def test_a_client_does_not_start_without_its_ledger(federation):
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        await one.step()
    (ada.state / "privacy-ledger.jsonl").unlink()
    with pytest.raises(LedgerError, match="the file is missing"), ada.client():
        pass
