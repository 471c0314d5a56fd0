"""An enrolled client that sends what no client should: to crash, to confuse, to read."""

import logging
from collections.abc import AsyncIterator

import numpy as np
import pytest
from gmpy2 import mpz

from fedperm.wire.aggregator import MANIFEST
from fedperm.wire.body import Body, Tensor
from fedperm.wire.events import EventKind
from fedperm_secret.access import SECRET_KEY_ACCESS
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.test_reports import REPORT
from tests.aggregator.test_validation import refuse, reject, with_body, with_ciphertext
from tests.aggregator.uploading import files, finish, headers, put, refused
from tests.leaks import needles
from tests.leaks.scanner import Scanner
from tests.wire.small_messages import update_body

pytestmark = pytest.mark.anyio


async def status_of(bench: Bench, client: Client, body, **changes: str | None) -> int:
    """Of an upload whose headers are changed, or left out."""
    given = headers(bench, client, bench.prepare(client, 1)) | changes
    given = {name: value for name, value in given.items() if value is not None}
    return (await put(bench, client, given, body)).status_code


async def endless() -> AsyncIterator[bytes]:
    """As many octets as anybody takes."""
    sent = 0
    while sent < 1 << 30:
        yield bytes(1 << 16)
        sent += 1 << 16
        assert sent < 1 << 24, "nobody stops it"


async def test_blocked_sending_a_compressed_body(opened: Bench, clients: list[Client]):
    """A gzip bomb is not opened to see."""
    assert await status_of(opened, clients[0], b"x", **{"Content-Encoding": "gzip"}) == 415
    assert files(opened) == []


async def test_blocked_sending_a_body_without_end(opened: Bench, clients: list[Client]):
    """Without a length, and with a length that it does not keep to."""
    unstated = await status_of(opened, clients[0], endless(), **{"Content-Length": None})
    assert unstated == 411
    assert await status_of(opened, clients[0], endless()) == 422
    assert files(opened) == []
    await finish(opened, clients)


async def test_blocked_sending_a_body_of_another_length(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    for body in (b"", prepared.body[:-1], prepared.body + b"\0"):
        assert await status_of(opened, clients[0], body) == 422
    manifest = clients[0].manifest(opened.document, 1, 1, prepared.body, size=1 << 40)
    given = headers(opened, clients[0], prepared)
    given |= {"Content-Length": str(1 << 40), MANIFEST: manifest}
    assert (await put(opened, clients[0], given, b"")).status_code == 413
    assert files(opened) == []


async def test_blocked_sending_another_shape(opened: Bench, clients: list[Client]):
    """Of the right length, so that only the header tells."""
    prepared = opened.prepare(clients[0], 1)
    right = update_body(opened.document.content.plan)
    wrong = Body((Tensor("values", np.dtype("u1"), (4, 3)), right.tensors[1]))
    body = wrong.header + prepared.body[len(right.header) :]
    bad = with_body(prepared, body, clients[0], opened.document)
    assert (await refuse(opened, clients, bad)).startswith("tensor values is not")


async def test_blocked_sending_a_value_out_of_range(bench: Bench, clients: list[Client]):
    await bench.create(value_bits=7)
    await bench.join(*clients)
    await bench.aggregator.tick()
    prepared = bench.prepare(clients[0], 1)
    at = update_body(bench.document.content.plan).offset_of("values")
    body = prepared.body[:at] + b"\xff" + prepared.body[at + 1 :]
    bad = with_body(prepared, body, clients[0], bench.document)
    assert await refuse(bench, clients, bad) == "a value exceeds 127"


async def test_blocked_reporting_numbers_that_are_none(opened: Bench, clients: list[Client]):
    """Values are integers; the floats that a client sends are those of its report."""
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    bearer = {"Authorization": f"Bearer {opened.server.token(clients[0])}"}
    for number in ("nan", "NaN", "Infinity", "-1e999"):
        text = REPORT.model_dump_json().replace(f"{REPORT.seconds.train}", number, 1)
        answer = await opened.aggregator.http.put(
            f"/v1/runs/{opened.run}/rounds/1/reports/ada",
            content=text,
            headers=bearer | {"Content-Type": "application/json"},
        )
        assert answer.status_code == 422
    assert (await opened.api.round_report(opened.run, 1, OPERATOR)).reports == ()


async def test_blocked_sending_an_update_under_another_epochs_key(
    opened: Bench, clients: list[Client]
):
    await opened.put_epoch(2)
    prepared = opened.prepare(clients[0], 1, epoch=2)
    assert await refused(opened, clients[0], 1, prepared) == (409, "conflict")


async def test_blocked_sending_numbers_that_are_no_ciphertexts(
    opened: Bench, clients: list[Client]
):
    """0, n squared, and the largest that there is room for, each from another client."""
    key = opened.pair().public_key
    numbers = (mpz(0), key.n_squared, mpz((1 << (2 * key.key_bits)) - 1))
    for client, number in zip(clients, numbers, strict=True):
        await opened.upload(client, 1, with_ciphertext(opened, client, number, place=3))
    await opened.aggregator.tick()
    updates = (await opened.api.round_report(opened.run, 1, OPERATOR)).updates
    assert [update.reason for update in updates] == ["a ciphertext lies outside 1 .. n^2 - 1"] * 3


async def test_detected_sending_a_factor_of_the_key(opened: Bench, clients: list[Client], caplog):
    """It is not counted, its sender is asked no more, the operator is told to rotate the key, and
    the factor is nowhere to be read."""
    caplog.set_level(logging.DEBUG)
    p, _ = opened.pair().factors(SECRET_KEY_ACCESS)
    bad = with_ciphertext(opened, clients[0], 3 * p, place=0)
    assert await reject(opened, clients, bad) == "a ciphertext shares a factor with n"
    events = [e.event for e in opened.aggregator.events.of_run(opened.run, 0) if e.client == "ada"]
    assert EventKind.KEY_COMPROMISED in events
    assert EventKind.PARTICIPANT_EXCLUDED in events
    scanner = Scanner([*needles.number("p", int(p)), *needles.number("3p", int(3 * p))])
    state = opened.aggregator.settings.state_directory
    assert scanner.folder(state).hits == scanner.database(state / "aggregator.db").hits == set()
    assert scanner.octets("log", [caplog.text.encode()]).hits == set()


async def test_detected_hiding_both_factors_from_the_common_gcd(
    opened: Bench, clients: list[Client]
):
    """One ciphertext with p and one with q: their product is 0, which shares n itself."""
    p, q = opened.pair().factors(SECRET_KEY_ACCESS)
    first = with_ciphertext(opened, clients[0], 3 * p, place=0)
    at = update_body(opened.document.content.plan).offset_of("masks")
    size = opened.pair().public_key.ciphertext_bytes
    octets = (5 * q).to_bytes(size, "little")
    body = first.body[: at + size] + octets + first.body[at + 2 * size :]
    bad = with_body(first, body, clients[0], opened.document)
    assert await reject(opened, clients, bad) == "a ciphertext shares a factor with n"
