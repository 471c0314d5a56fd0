"""Uploads that are refused: with the right word, and without a trace.

All of them are tried on one open round. When they are through, `standing` itself finishes the
round and checks that it is exact.
"""

from collections.abc import AsyncIterator

import pytest

from fedperm.wire.aggregator import MANIFEST
from fedperm.wire.digest import content_digest
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.uploading import UNTRUSTED, WRONG_BODY, files, headers, put, refused

pytestmark = pytest.mark.anyio


async def test_a_round_that_does_not_exist_yet_is_unknown(standing: Bench):
    ada = standing.clients[0]
    assert await refused(standing, ada, 2, standing.prepare(ada, 2)) == (
        404,
        "unknown-resource",
    )


async def test_an_update_under_another_epochs_key_is_a_conflict(standing: Bench):
    ada = standing.clients[0]
    await standing.put_epoch(2)
    prepared = standing.prepare(ada, 1, epoch=2)
    assert await refused(standing, ada, 1, prepared) == (409, "conflict")


async def test_nobody_writes_into_anothers_place(standing: Bench):
    ada, ben, _ = standing.clients
    prepared = standing.prepare(ben, 1)
    given = headers(standing, ben, prepared)
    response = await put(standing, ada, given, prepared.body)
    assert response.status_code == 403


async def test_a_stolen_name_with_another_signing_key_is_refused(standing: Bench):
    """A key server that enrols somebody under a name that has joined does not give its place."""
    impostor = Client("ada")
    prepared = standing.prepare(impostor, 1)
    assert await refused(standing, impostor, 1, prepared) == (403, "forbidden")


REPLAYED = (
    {"run": "other"},
    {"document": "0" * 64},
    {"round": 2},
    {"client": "ben"},
    {"sha256": "0" * 64},
    {"size": 7},
    {"kind": "vote"},
    {"tensors": {"values": "0" * 64}},
)


async def test_a_manifest_of_another_upload_is_refused(standing: Bench):
    """A replayed manifest is one of another round, client or body."""
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    for change in REPLAYED:
        manifest = ada.manifest(standing.document, 1, 1, prepared.body, **change)
        given = headers(standing, ada, prepared) | {MANIFEST: manifest}
        response = await put(standing, ada, given, prepared.body)
        assert (response.status_code, response.json()["type"]) == (422, UNTRUSTED)
        assert next(iter(change)) in response.json()["detail"]


async def test_a_manifest_of_the_first_version_names_both_versions(standing: Bench):
    """Of a client that joined before the aggregator was upgraded: it named no tensors."""
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    manifest = ada.manifest(standing.document, 1, 1, prepared.body, tensors={})
    given = headers(standing, ada, prepared) | {MANIFEST: manifest}
    answer = await put(standing, ada, given, prepared.body)
    assert answer.status_code == 409
    assert answer.json()["detail"] == (
        "the manifest is of fedperm/1, this aggregator speaks fedperm/3"
    )


async def test_an_unsigned_or_forged_manifest_is_refused(standing: Bench):
    ada, ben, _ = standing.clients
    prepared = standing.prepare(ada, 1)
    forger = Client("ada", ben.signing)
    forged = forger.manifest(standing.document, 1, 1, prepared.body)
    damaged = prepared.manifest[:-4] + "AAAA"
    for manifest in ("", "a.b.c", forged, damaged, standing.server.token(ada), "x" * 20_000):
        given = headers(standing, ada, prepared) | {MANIFEST: manifest}
        response = await put(standing, ada, given, prepared.body)
        assert (response.status_code, response.json()["type"]) == (422, UNTRUSTED)


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body


MALFORMED = {
    "compressed": (415, {"Content-Encoding": "gzip"}),
    "of another type": (415, {"Content-Type": "application/octet-stream"}),
    "of an unreadable length": (411, {"Content-Length": "many"}),
    "digest of another algorithm": (422, {"Content-Digest": "sha-512=:AAAA:"}),
    "digest of another body": (422, {"Content-Digest": content_digest("0" * 64)}),
}


async def test_wrong_headers_are_refused(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    for what, (status, change) in MALFORMED.items():
        given = headers(standing, ada, prepared) | change
        response = await put(standing, ada, given, prepared.body)
        assert response.status_code == status, what
        assert response.headers["Content-Type"] == "application/problem+json"
    assert files(standing) == []


async def test_every_header_is_needed(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    needed = {"Content-Type": 415, "Content-Digest": 422, MANIFEST: 422, "Authorization": 401}
    for missing, status in needed.items():
        given = headers(standing, ada, prepared)
        del given[missing]
        response = await put(standing, ada, given, prepared.body)
        assert response.status_code == status
    assert files(standing) == []


async def test_a_body_without_a_length_is_refused(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    given = headers(standing, ada, prepared)
    del given["Content-Length"]
    response = await put(standing, ada, given, chunks(prepared.body))
    assert (response.status_code, response.json()["title"]) == (411, "State the body's length")


async def test_a_body_that_ends_early_or_late_is_refused(standing: Bench):
    """What comes is not what was announced."""
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    whole = prepared.body
    for body in (b"", whole[:1], whole[:-1], whole + b"\0", whole + whole):
        response = await put(standing, ada, headers(standing, ada, prepared), body)
        assert (response.status_code, response.json()["type"]) == (422, WRONG_BODY)
    assert files(standing) == []


async def test_an_announced_length_that_is_not_the_right_one_is_refused(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    for change, status in ((-1, 422), (1, 413), (1 << 40, 413)):
        size = len(prepared.body) + change
        manifest = ada.manifest(standing.document, 1, 1, prepared.body, size=size)
        given = headers(standing, ada, prepared)
        given |= {"Content-Length": str(size), MANIFEST: manifest}
        response = await put(standing, ada, given, prepared.body)
        assert response.status_code == status
    assert files(standing) == []


async def test_changed_bytes_are_noticed(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    changed = bytes([*prepared.body[:-1], prepared.body[-1] ^ 1])
    response = await put(standing, ada, headers(standing, ada, prepared), changed)
    assert (response.status_code, response.json()["type"]) == (422, WRONG_BODY)
    assert files(standing) == []


async def test_an_upload_of_a_run_that_does_not_exist_is_unknown(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    response = await standing.aggregator.http.put(
        "/v1/runs/nothing/rounds/1/updates/ada",
        content=prepared.body,
        headers=headers(standing, ada, prepared),
    )
    assert response.status_code == 404


async def test_the_operator_cannot_upload_for_a_client(standing: Bench):
    ada = standing.clients[0]
    prepared = standing.prepare(ada, 1)
    given = headers(standing, ada, prepared) | {"Authorization": f"Bearer {OPERATOR}"}
    response = await put(standing, ada, given, prepared.body)
    assert response.status_code == 403
