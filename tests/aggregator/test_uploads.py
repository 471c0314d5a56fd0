"""Uploads: stored once, acknowledged when durable, refused with the right word otherwise."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import MANIFEST, RoundState, UpdateState
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.digest import content_digest
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, Prepared
from tests.aggregator.test_exactness import check_sum

pytestmark = pytest.mark.anyio

UNTRUSTED = "urn:fedperm:problem:untrusted"
WRONG_BODY = "urn:fedperm:problem:wrong-body"


def files(bench: Bench) -> list[Path]:
    """Everything that was uploaded, finished or not."""
    state = bench.aggregator.settings.state_directory
    found = [*state.glob("incoming/*"), *state.glob("runs/*/rounds/*/uploads/*")]
    return sorted(found)


async def refused(bench: Bench, client: Client, number: int, prepared: Prepared) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await bench.upload(client, number, prepared)
    return caught.value.status, caught.value.kind


def headers(bench: Bench, client: Client, prepared: Prepared) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {bench.server.token(client)}",
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(prepared.body)),
        "Content-Digest": content_digest(hashlib.sha256(prepared.body).hexdigest()),
        MANIFEST: prepared.manifest,
    }


async def put(
    bench: Bench, client: Client, given: dict[str, str], body: bytes | AsyncIterator[bytes]
) -> httpx.Response:
    """A request with exactly these headers."""
    path = f"/v1/runs/{bench.run}/rounds/1/updates/{client.name}"
    return await bench.aggregator.http.put(path, content=body, headers=given)


async def finish(bench: Bench, clients: list[Client]) -> None:
    """The round still ends as it should."""
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    assert set(await check_sum(bench, 1)) == {client.name for client in clients}


async def test_the_same_bytes_again_change_nothing(opened: Bench, clients: list[Client]):
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    first = await opened.upload(ada, 1, prepared)
    assert first.state is UpdateState.STORED
    assert first.sha256 == hashlib.sha256(prepared.body).hexdigest()
    opened.clock.advance(5)
    response = await put(opened, ada, headers(opened, ada, prepared), prepared.body)
    assert response.status_code == 200
    assert response.json() == first.model_dump(mode="json")
    assert len(files(opened)) == 1
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_other_bytes_are_a_conflict_and_the_first_stay(opened: Bench, clients: list[Client]):
    ada = clients[0]
    first = opened.prepare(ada, 1)
    await opened.upload(ada, 1, first)
    other = ada.prepare(opened.document, 1, 1, opened.pair(), opened.randomness)
    assert await refused(opened, ada, 1, other) == (409, "conflict")
    assert [path.read_bytes() for path in files(opened)] == [first.body]
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_an_update_that_comes_too_late_is_gone_and_leaves_nothing(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients[:2])
    opened.clock.advance(61)
    await opened.aggregator.tick()
    late = opened.prepare(clients[2], 1)
    assert await refused(opened, clients[2], 1, late) == (410, "gone")
    assert files(opened) == []
    assert await check_sum(opened, 1) == ("ada", "ben")


async def test_a_client_whose_answer_was_lost_is_welcome_after_the_round(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    assert await opened.state(1) is RoundState.PUBLISHED
    again = opened.sent[1, "ada"]
    receipt = await opened.upload(clients[0], 1, again)
    assert receipt.state is UpdateState.INCLUDED
    assert files(opened) == []  # destroyed with the round, and not back


async def test_after_the_deadline_an_update_still_counts_while_the_round_is_open(
    opened: Bench, clients: list[Client]
):
    opened.clock.advance(70)
    await finish(opened, clients)


async def test_a_round_that_does_not_exist_yet_is_unknown(opened: Bench, clients: list[Client]):
    assert await refused(opened, clients[0], 2, opened.prepare(clients[0], 2)) == (
        404,
        "unknown-resource",
    )


async def test_a_client_that_was_not_selected_is_refused(bench: Bench, clients: list[Client]):
    await bench.create(rounds={"clients_per_round": 2})
    await bench.join(*clients)
    await bench.aggregator.tick()
    asked = await bench.asked(clients, settled=0)
    (left_out,) = [client for client in clients if client not in asked]
    prepared = bench.prepare(left_out, 1)
    assert await refused(bench, left_out, 1, prepared) == (403, "forbidden")
    await finish(bench, asked)


async def test_an_update_under_another_epochs_key_is_a_conflict(
    opened: Bench, clients: list[Client]
):
    await opened.put_epoch(2)
    prepared = opened.prepare(clients[0], 1, epoch=2)
    assert await refused(opened, clients[0], 1, prepared) == (409, "conflict")
    await finish(opened, clients)


async def test_nobody_writes_into_anothers_place(opened: Bench, clients: list[Client]):
    ada, ben, _ = clients
    prepared = opened.prepare(ben, 1)
    given = headers(opened, ben, prepared)
    response = await put(opened, ada, given, prepared.body)
    assert response.status_code == 403
    await finish(opened, clients)


async def test_a_stolen_name_with_another_signing_key_is_refused(
    opened: Bench, clients: list[Client]
):
    """A key server that enrols somebody under a name that has joined does not give its place."""
    impostor = Client("ada")
    prepared = opened.prepare(impostor, 1)
    assert await refused(opened, impostor, 1, prepared) == (403, "forbidden")
    await finish(opened, clients)


REPLAYED = (
    {"run": "other"},
    {"document": "0" * 64},
    {"round": 2},
    {"client": "ben"},
    {"sha256": "0" * 64},
    {"size": 7},
)


async def test_a_manifest_of_another_upload_is_refused(opened: Bench, clients: list[Client]):
    """A replayed manifest is one of another round, client or body."""
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    for change in REPLAYED:
        manifest = ada.manifest(opened.document, 1, 1, prepared.body, **change)
        given = headers(opened, ada, prepared) | {MANIFEST: manifest}
        response = await put(opened, ada, given, prepared.body)
        assert (response.status_code, response.json()["type"]) == (422, UNTRUSTED)
        assert next(iter(change)) in response.json()["detail"]
    await finish(opened, clients)


async def test_an_unsigned_or_forged_manifest_is_refused(opened: Bench, clients: list[Client]):
    ada, ben, _ = clients
    prepared = opened.prepare(ada, 1)
    forger = Client("ada", ben.signing)
    forged = forger.manifest(opened.document, 1, 1, prepared.body)
    damaged = prepared.manifest[:-4] + "AAAA"
    for manifest in ("", "a.b.c", forged, damaged, opened.server.token(ada), "x" * 20_000):
        given = headers(opened, ada, prepared) | {MANIFEST: manifest}
        response = await put(opened, ada, given, prepared.body)
        assert (response.status_code, response.json()["type"]) == (422, UNTRUSTED)
    await finish(opened, clients)


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body


MALFORMED = {
    "compressed": (415, {"Content-Encoding": "gzip"}),
    "of another type": (415, {"Content-Type": "application/octet-stream"}),
    "of an unreadable length": (411, {"Content-Length": "many"}),
    "digest of another algorithm": (422, {"Content-Digest": "sha-512=:AAAA:"}),
    "digest of another body": (422, {"Content-Digest": content_digest("0" * 64)}),
}


async def test_wrong_headers_are_refused(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    for what, (status, change) in MALFORMED.items():
        given = headers(opened, clients[0], prepared) | change
        response = await put(opened, clients[0], given, prepared.body)
        assert response.status_code == status, what
        assert response.headers["Content-Type"] == "application/problem+json"
    assert files(opened) == []
    await finish(opened, clients)


async def test_every_header_is_needed(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    needed = {"Content-Type": 415, "Content-Digest": 422, MANIFEST: 422, "Authorization": 401}
    for missing, status in needed.items():
        given = headers(opened, clients[0], prepared)
        del given[missing]
        response = await put(opened, clients[0], given, prepared.body)
        assert response.status_code == status
    assert files(opened) == []
    await finish(opened, clients)


async def test_a_body_without_a_length_is_refused(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    given = headers(opened, clients[0], prepared)
    del given["Content-Length"]
    response = await put(opened, clients[0], given, chunks(prepared.body))
    assert (response.status_code, response.json()["title"]) == (411, "State the body's length")
    await finish(opened, clients)


async def test_a_body_that_ends_early_or_late_is_refused(opened: Bench, clients: list[Client]):
    """What comes is not what was announced."""
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    whole = prepared.body
    for body in (b"", whole[:1], whole[:-1], whole + b"\0", whole + whole):
        response = await put(opened, ada, headers(opened, ada, prepared), body)
        assert (response.status_code, response.json()["type"]) == (422, WRONG_BODY)
    assert files(opened) == []
    await finish(opened, clients)


async def test_an_announced_length_that_is_not_the_right_one_is_refused(
    opened: Bench, clients: list[Client]
):
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    for change, status in ((-1, 422), (1, 413), (1 << 40, 413)):
        size = len(prepared.body) + change
        manifest = ada.manifest(opened.document, 1, 1, prepared.body, size=size)
        given = headers(opened, ada, prepared)
        given |= {"Content-Length": str(size), MANIFEST: manifest}
        response = await put(opened, ada, given, prepared.body)
        assert response.status_code == status
    assert files(opened) == []
    await finish(opened, clients)


async def test_changed_bytes_are_noticed(opened: Bench, clients: list[Client]):
    ada = clients[0]
    prepared = opened.prepare(ada, 1)
    changed = bytes([*prepared.body[:-1], prepared.body[-1] ^ 1])
    response = await put(opened, ada, headers(opened, ada, prepared), changed)
    assert (response.status_code, response.json()["type"]) == (422, WRONG_BODY)
    assert files(opened) == []
    await finish(opened, clients)


async def test_an_upload_of_a_run_that_does_not_exist_is_unknown(
    opened: Bench, clients: list[Client]
):
    prepared = opened.prepare(clients[0], 1)
    response = await opened.aggregator.http.put(
        "/v1/runs/nothing/rounds/1/updates/ada",
        content=prepared.body,
        headers=headers(opened, clients[0], prepared),
    )
    assert response.status_code == 404


async def test_the_operator_cannot_upload_for_a_client(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    given = headers(opened, clients[0], prepared) | {"Authorization": f"Bearer {OPERATOR}"}
    response = await put(opened, clients[0], given, prepared.body)
    assert response.status_code == 403
