"""What is checked of an update, partly before it is acknowledged: values, ciphertexts, norms."""

import logging
from pathlib import Path

import numpy as np
import pytest
from gmpy2 import mpz

from fedperm.errors import RefusedError
from fedperm.run_document import FrozenDocument
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionState
from fedperm.wire.body import Body, Tensor
from fedperm.wire.events import EventKind
from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client, Prepared
from tests.wire.small_messages import update_body

pytestmark = pytest.mark.anyio


def with_body(
    prepared: Prepared, body: bytes, client: Client, document: FrozenDocument
) -> Prepared:
    """Signed by its sender as if it were right."""
    manifest = client.manifest(document, 1, 1, body)
    return Prepared(body, manifest, prepared.coded, prepared.shuffled)


def with_ciphertext(bench: Bench, client: Client, number: mpz, place: int) -> Prepared:
    """An honest upload but for one ciphertext."""
    prepared = bench.prepare(client, 1)
    key = bench.pair().public_key
    at = update_body(bench.document.content.plan).offset_of("masks")
    at += place * key.ciphertext_bytes
    octets = number.to_bytes(key.ciphertext_bytes, "little")
    body = prepared.body[:at] + octets + prepared.body[at + len(octets) :]
    return with_body(prepared, body, client, bench.document)


async def reject(bench: Bench, clients: list[Client], bad: Prepared) -> str:
    """The first client sends it; it is acknowledged, rejected, and the round goes on without."""
    receipt = await bench.upload(clients[0], 1, bad)
    assert receipt.state is SubmissionState.STORED
    await bench.contribute(1, *clients[1:])
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ben", "cleo")
    token = bench.server.token(clients[0])
    report = await bench.api.submission(UPDATE, bench.run, 1, "ada", token)
    assert report.state is SubmissionState.REJECTED
    assert (report.norm_before, report.norm_after, report.bounded) == (None, None, None)
    return report.reason


async def test_numbers_that_are_no_ciphertexts_are_rejected(bench: Bench):
    """0, n squared and more, each from a client of its own; two honest ones make the round."""
    clients = [Client(name) for name in ("zero", "square", "more", "ben", "cleo")]
    await bench.create(rounds={"clients_per_round": 5, "start_with": 5})
    await bench.join(*clients)
    await bench.aggregator.tick()
    key = bench.pair().public_key
    numbers = (mpz(0), key.n_squared, mpz((1 << (2 * key.key_bits)) - 1))
    for client, number in zip(clients[:3], numbers, strict=True):
        bad = with_ciphertext(bench, client, number, place=5)
        assert (await bench.upload(client, 1, bad)).state is SubmissionState.STORED
    await bench.contribute(1, *clients[3:])
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ben", "cleo")
    report = await bench.api.round_report(bench.run, 1, OPERATOR)
    assert {u.client: u.reason for u in report.updates if u.state is SubmissionState.REJECTED} == {
        client.name: "a ciphertext lies outside 1 .. n^2 - 1" for client in clients[:3]
    }
    assert EventKind.KEY_COMPROMISED not in await kinds(bench)


async def kinds(bench: Bench) -> list[str]:
    bench.aggregator.services.notifier.close()  # the stream ends after what is there
    return [event.event async for event in bench.api.events(bench.run, OPERATOR)]


async def test_a_factor_of_the_key_is_rejected_destroyed_and_reported(
    opened: Bench, clients: list[Client], caplog
):
    """The factor is in no event, log, database or file afterwards."""
    caplog.set_level(logging.DEBUG)
    p, _ = opened.pair().factors(SECRET_KEY_ACCESS)
    bad = with_ciphertext(opened, clients[0], 3 * p, place=0)
    reason = await reject(opened, clients, bad)
    assert reason == "a ciphertext shares a factor with n"
    opened.aggregator.services.notifier.close()
    events = [event async for event in opened.api.events(opened.run, OPERATOR)]
    (compromise,) = [e for e in events if e.event == EventKind.KEY_COMPROMISED]
    metrics = (await opened.aggregator.http.get("/metrics")).text
    assert "fedperm_key_compromises_total 1.0" in metrics.splitlines()
    assert (compromise.client, compromise.round) == ("ada", 1)
    assert "rotate" in compromise.details.hint
    for number in (p, 3 * p):
        assert hits(opened.aggregator.settings.state_directory, number) == []
        assert str(number) not in caplog.text
        assert f"{number:x}" not in caplog.text


def hits(folder: Path, number: mpz) -> list[Path]:
    """Files that hold a number in any usual encoding."""
    length = (number.bit_length() + 7) // 8
    encodings = (
        number.to_bytes(length, "little"),
        number.to_bytes(length, "big"),
        str(number).encode(),
        f"{number:x}".encode(),
    )
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found
    return [path for path in found if any(e in path.read_bytes() for e in encodings)]


async def test_whoever_sent_a_factor_of_the_key_is_asked_no_more(
    opened: Bench, clients: list[Client]
):
    """It is told in this order: whoever reads of the verdict can rely on the exclusion."""
    p, _ = opened.pair().factors(SECRET_KEY_ACCESS)
    await reject(opened, clients, with_ciphertext(opened, clients[0], 5 * p, place=2))
    events = opened.aggregator.events.of_run(opened.run, 0)
    assert [e.event for e in events if e.client == "ada"] == [
        EventKind.PARTICIPANT_JOINED,
        EventKind.SUBMISSION_STORED,
        EventKind.PARTICIPANT_EXCLUDED,
        EventKind.SUBMISSION_CHECKED,
        EventKind.KEY_COMPROMISED,
    ]
    listed = (await opened.api.participants(opened.run, OPERATOR)).participants
    assert [p.client for p in listed if p.excluded] == ["ada"]
    second = await opened.api.outcome(opened.run, 2, OPERATOR)
    assert second.selected == ("ben", "cleo")


async def test_a_rejected_upload_is_destroyed_before_the_round_ends(
    opened: Bench, clients: list[Client]
):
    uploads = opened.aggregator.settings.state_directory / "runs" / opened.run / "rounds/1/uploads"
    await opened.upload(clients[0], 1, with_ciphertext(opened, clients[0], mpz(0), place=1))
    await opened.contribute(1, clients[1])
    assert len(list(uploads.iterdir())) == 2
    await opened.aggregator.tick()
    assert [path.name.partition(".")[0] for path in uploads.iterdir()] == ["ben"]


async def refuse(bench: Bench, clients: list[Client], bad: Prepared) -> str:
    """The first client sends it and is refused without a receipt. Nothing is stored, its place is
    free: in the right frame the same numbers are taken, and the round is whole."""
    with pytest.raises(RefusedError) as refused:
        await bench.upload(clients[0], 1, bad)
    assert refused.value.status == 422
    uploads = bench.aggregator.settings.state_directory / "runs" / bench.run / "rounds/1/uploads"
    assert not uploads.exists() or not list(uploads.iterdir())
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    return refused.value.message


async def test_a_value_of_too_many_bits_is_refused_before_it_is_acknowledged(
    bench: Bench, clients: list[Client]
):
    await bench.create(value_bits=7)
    await bench.join(*clients)
    await bench.aggregator.tick()
    prepared = bench.prepare(clients[0], 1)
    at = update_body(bench.document.content.plan).offset_of("values")
    body = prepared.body[:at] + b"\x80" + prepared.body[at + 1 :]
    bad = with_body(prepared, body, clients[0], bench.document)
    assert await refuse(bench, clients, bad) == "a value exceeds 127"


async def test_a_header_of_another_type_or_shape_is_refused_before_it_is_acknowledged(
    opened: Bench, clients: list[Client]
):
    """The same length, so that only the header tells."""
    prepared = opened.prepare(clients[0], 1)
    right = update_body(opened.document.content.plan)
    wrong = Body((Tensor("values", np.dtype("u1"), (4, 3)), right.tensors[1]))
    assert wrong.size == right.size
    body = wrong.header + prepared.body[len(right.header) :]
    bad = with_body(prepared, body, clients[0], opened.document)
    assert (await refuse(opened, clients, bad)).startswith("tensor values is not")


async def test_a_rejected_client_cannot_try_again_in_the_same_round(
    opened: Bench, clients: list[Client]
):
    bad = with_ciphertext(opened, clients[0], mpz(0), place=1)
    await reject(opened, clients, bad)
    assert (await opened.upload(clients[0], 1, bad)).state is SubmissionState.REJECTED
    assert (await opened.task(clients[0], settled=1)).round == 2


async def test_a_round_in_which_too_many_are_rejected_is_aborted_at_once(
    opened: Bench, clients: list[Client]
):
    for client in clients[:2]:
        await opened.upload(client, 1, with_ciphertext(opened, client, mpz(0), place=1))
    await opened.contribute(1, clients[2])
    await opened.aggregator.tick()
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state == "aborted"
    assert outcome.reason == "1 of 3 selected clients sent a valid update, 2 are needed"
    token = opened.server.token(clients[2])
    report = await opened.api.submission(UPDATE, opened.run, 1, "cleo", token)
    assert report.state is SubmissionState.DROPPED
