"""It holds the aggregator's operator secret, and wants what the key server has."""

import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import KeyEpoch
from fedperm.wire.body import MEDIA_TYPE
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, document_of
from tests.aggregator.uploading import headers, put
from tests.keyserver.server import RUN_OPERATOR, Server
from tests.keyserver.test_endpoint_walk import OPEN, TABLE, WHO

pytestmark = pytest.mark.anyio


async def test_blocked_minting_tokens_or_fetching_keys(key_server: Server):
    places = {"key": "demo", "epoch": "1", "identifier": "a", "client": "b"}
    for (method, path), cells in TABLE.items():
        if cells is not OPEN and cells[WHO.index("nobody")] == 401:
            answer = await key_server.send(method, path.format(**places), token=RUN_OPERATOR)
            assert answer.status_code in {401, 422}, path


async def test_blocked_putting_a_key_of_its_own_beside_the_run(opened: Bench):
    """Whose secret half it knows: only the run's key server signs epochs."""
    stranger = KeyServer(opened.clock, opened.server.pairs)
    with pytest.raises(RefusedError) as refused:
        await opened.api.put_key_epoch(opened.run, 2, KeyEpoch(record=stranger.epoch(2)), OPERATOR)
    assert (refused.value.status, refused.value.kind) == (422, "untrusted")


async def test_blocked_changing_the_document_of_a_run(opened: Bench):
    other = document_of(opened.server, value_bits=7)
    with pytest.raises(RefusedError) as refused:
        await opened.api.create_run(other, OPERATOR)
    assert refused.value.status == 409


async def test_blocked_uploading_for_a_client(opened: Bench, clients: list[Client]):
    prepared = opened.prepare(clients[0], 1)
    given = headers(opened, clients[0], prepared) | {"Authorization": f"Bearer {OPERATOR}"}
    assert (await put(opened, clients[0], given, prepared.body)).status_code == 403


async def test_blocked_downloading_an_upload(opened: Bench, clients: list[Client]):
    """Whatever it may read, it is no client's values or masks."""
    await opened.contribute(1, *clients)
    sent = opened.sent[1, "ada"]
    run, place = f"/v1/runs/{opened.run}", "/rounds/1/updates/ada"
    paths = ("", "/rounds", "/rounds/1", "/rounds/1/report", place, "/rounds/1/aggregate")
    for path in paths:
        bearer = {"Authorization": f"Bearer {OPERATOR}", "Accept": MEDIA_TYPE}
        answer = await opened.aggregator.http.get(run + path, headers=bearer)
        assert sent.shuffled.tobytes() not in answer.content
        assert sent.body[-64:] not in answer.content
