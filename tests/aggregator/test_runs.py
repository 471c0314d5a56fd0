"""Runs as the operator makes them: documents, initial models, key epochs."""

import hashlib

import httpx
import pytest

from fedperm.errors import RefusedError
from fedperm.run_document import DOCUMENT_SIGNATURE, LONGEST_DOCUMENT
from fedperm.wire.aggregator import KeyEpoch, RunState
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.statements import SchemeSpec
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import MODEL, OPERATOR, Client, KeyServer, ManualClock, document_of
from tests.documents.operator import signature_of

pytestmark = pytest.mark.anyio

AUTHORISED = {"Authorization": f"Bearer {OPERATOR}"}
JSON = AUTHORISED | {"Content-Type": "application/json"}
BULK = AUTHORISED | {"Content-Type": MEDIA_TYPE}


async def put(bench: Bench, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
    return await bench.aggregator.http.put(path, content=body, headers=headers)


async def put_document(bench: Bench, octets: bytes) -> httpx.Response:
    return await put(bench, "/v1/runs/digits", octets, JSON | signature_of(octets))


async def test_a_run_is_made_once(bench: Bench):
    octets = bench.document.octets
    first = await put_document(bench, octets)
    assert first.status_code == 201
    assert first.json() == {
        "run": "digits",
        "document": hashlib.sha256(octets).hexdigest(),
        "state": "waiting",
        "reason": "waits for the initial model",
        "round": 0,
        "rounds": 2,
        "epoch": 0,
        "participants": 0,
        "created_at": bench.clock.now(),
    }
    bench.clock.advance(9)
    again = await put_document(bench, octets)
    assert (again.status_code, again.json()) == (200, first.json())
    other = await put_document(bench, octets + b" ")
    assert other.status_code == 409


async def test_the_document_comes_back_byte_by_byte(bench: Bench, clients: list[Client]):
    octets = b" " + bench.document.octets + b"\n"
    await put_document(bench, octets)
    token = {"Authorization": f"Bearer {bench.server.token(clients[0])}"}
    read = await bench.aggregator.http.get("/v1/runs/digits/document", headers=token)
    assert read.content == octets
    assert read.headers[DOCUMENT_SIGNATURE] == signature_of(octets)[DOCUMENT_SIGNATURE]
    assert read.headers["ETag"] == f'"{hashlib.sha256(octets).hexdigest()}"'
    token["If-None-Match"] = read.headers["ETag"]
    known = await bench.aggregator.http.get("/v1/runs/digits/document", headers=token)
    assert (known.status_code, known.content) == (304, b"")


async def test_only_the_operator_whom_it_names_makes_a_run_of_a_document(bench: Bench):
    """Who has the aggregator's credential has not yet the operator's key."""
    octets, other = bench.document.octets, document_of(bench.server, value_bits=7).octets
    for header in ({}, {DOCUMENT_SIGNATURE: "a.b.c"}, signature_of(other)):
        refused = await put(bench, "/v1/runs/digits", octets, JSON | header)
        assert refused.status_code == 422
        assert refused.json()["type"] == "urn:fedperm:problem:untrusted"
    assert (await bench.api.runs(OPERATOR)).runs == ()


async def test_impossible_documents_are_refused(bench: Bench):
    good = bench.document.octets
    wrong = {
        b"not JSON": 422,
        good.replace(b'"value_bits": 8', b'"value_bits": 99'): 422,
        good.replace(b'"k1": 4', b'"k1": 4, "k3": 4'): 422,
        good + b" " * LONGEST_DOCUMENT: 413,
    }
    for octets, status in wrong.items():
        assert octets != good
        assert (await put(bench, "/v1/runs/digits", octets, JSON)).status_code == status
    elsewhere = await put(bench, "/v1/runs/letters", good, JSON)
    assert (elsewhere.status_code, "digits" in elsewhere.json()["detail"]) == (422, True)
    untyped = await put(bench, "/v1/runs/digits", good, AUTHORISED)
    assert untyped.status_code == 415
    assert (await bench.api.runs(OPERATOR)).runs == ()


async def test_documents_for_tests_need_the_aggregators_consent(
    tmp_path, clock: ManualClock, server: KeyServer
):
    aggregator = Aggregator(tmp_path, clock, insecure_for_tests=False)
    with pytest.raises(RefusedError, match="insecure_for_tests") as caught:
        await aggregator.api.create_run(document_of(server), OPERATOR)
    assert (caught.value.status, caught.value.kind) == (422, "wrong-parameters")
    aggregator.close()


async def test_runs_are_listed_in_the_order_they_were_made(bench: Bench):
    for name in ("zebra", "apple"):
        await bench.create(run=name)
        bench.clock.advance(1)
    listed = (await bench.api.runs(OPERATOR)).runs
    assert [status.run for status in listed] == ["zebra", "apple"]


async def test_the_initial_model_must_be_the_documents(bench: Bench, clients: list[Client]):
    await bench.api.create_run(bench.document, OPERATOR)
    path = "/v1/runs/digits/initial-model"
    with pytest.raises(RefusedError, match="no initial model yet"):
        await bench.api.initial_model(bench.run, OPERATOR)
    changed = MODEL[:-1] + b"\x01"
    for body, status in ((changed, 422), (MODEL[:-1], 422), (MODEL + b"\0", 413)):
        assert (await put(bench, path, body, BULK)).status_code == status
    assert (await put(bench, path, MODEL, AUTHORISED)).status_code == 415
    assert (await put(bench, path, MODEL, BULK)).status_code == 201
    assert (await put(bench, path, MODEL, BULK)).status_code == 200
    assert await bench.api.initial_model(bench.run, bench.server.token(clients[0])) == MODEL
    assert list(bench.aggregator.settings.state_directory.glob("incoming/*")) == []


async def test_a_model_whose_header_is_wrong_is_refused_although_its_hash_is_right(bench: Bench):
    body = MODEL.replace(b"parameters", b"barameters")
    model = {
        "tensors": [{"name": "w", "shape": [10]}],
        "initial_sha256": hashlib.sha256(body).hexdigest(),
    }
    document = document_of(bench.server, model=model)
    await bench.api.create_run(document, OPERATOR)
    response = await put(bench, "/v1/runs/digits/initial-model", body, BULK)
    assert (response.status_code, response.json()["type"]) == (
        422,
        "urn:fedperm:problem:wrong-body",
    )


async def put_epoch(bench: Bench, epoch: int, record: str) -> int:
    message = KeyEpoch(record=record)
    response = await bench.aggregator.http.put(
        f"/v1/runs/digits/key-epochs/{epoch}", json=message.model_dump(), headers=AUTHORISED
    )
    return response.status_code


async def test_key_epochs_go_up_and_stay(bench: Bench, clients: list[Client]):
    await bench.api.create_run(bench.document, OPERATOR)
    first, second = bench.server.epoch(1), bench.server.epoch(2)
    assert await put_epoch(bench, 1, first) == 201
    assert await put_epoch(bench, 1, first) == 200
    assert await put_epoch(bench, 1, bench.server.epoch(1, iat=5)) == 409
    assert await put_epoch(bench, 2, second) == 201
    assert await put_epoch(bench, 1, first) == 200
    listed = await bench.api.key_epochs(bench.run, bench.server.token(clients[0]))
    assert [epoch.record for epoch in listed.epochs] == [first, second]
    assert (await bench.api.run(bench.run, OPERATOR)).epoch == 2


async def test_an_older_epoch_cannot_be_put_after_a_newer_one(bench: Bench):
    await bench.api.create_run(bench.document, OPERATOR)
    assert await put_epoch(bench, 2, bench.server.epoch(2)) == 201
    assert await put_epoch(bench, 1, bench.server.epoch(1)) == 409


async def test_only_records_of_the_runs_key_server_and_key_are_taken(bench: Bench):
    await bench.api.create_run(bench.document, OPERATOR)
    server = bench.server
    stranger = KeyServer(bench.clock, server.pairs)
    even = {"public": {"n": "1" + "0" * 126 + "2"}}
    for record in (
        stranger.epoch(1),
        server.epoch(2),  # of another epoch than the path says
        server.epoch(1, key="other-key"),
        server.epoch(1, scheme=SchemeSpec.of_bits(2048)),
        server.epoch(1, key_id="0" * 64),
        server.epoch(1, **even),
        server.token(Client("ada")),
        "",
    ):
        assert await put_epoch(bench, 1, record) == 422
    assert (await bench.api.key_epochs(bench.run, OPERATOR)).epochs == ()


async def test_an_unknown_run_is_unknown_to_whoever_asks(bench: Bench, clients: list[Client]):
    for token in (OPERATOR, bench.server.token(clients[0])):
        with pytest.raises(RefusedError) as caught:
            await bench.api.run("nothing", token)
        assert caught.value.status == 404
    assert (await bench.aggregator.http.get("/v1/runs/nothing")).status_code == 401


async def test_names_that_are_not_tame_are_refused(bench: Bench):
    for name in ("Upper", "..", "a_b", "a" * 64, "-a"):
        response = await bench.aggregator.http.get(
            f"/v1/runs/{name}x/../{name}", headers=AUTHORISED
        )
        assert response.status_code in {404, 422}
        direct = await bench.aggregator.http.get(f"/v1/runs/%2e%2e{name}", headers=AUTHORISED)
        assert direct.status_code == 422


async def test_a_run_waits_until_everything_is_there(bench: Bench):
    await bench.create()
    status = await bench.api.run(bench.run, OPERATOR)
    assert (status.state, status.round, status.epoch) == (RunState.WAITING, 0, 1)
