"""It holds the aggregator's operator secret, and wants what the key server has."""

from random import Random
from typing import Any

import pytest

from fedperm.errors import RefusedError
from fedperm.run_document import RunDocument
from fedperm.wire.aggregator import KeyEpoch
from fedperm.wire.body import MEDIA_TYPE
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_client.errors import CeilingError
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, document_of
from tests.aggregator.uploading import headers, put
from tests.client.federation import Federation, drive
from tests.client.test_ceilings import OF_A_RECORD, SHAPED, UNPROTECTED, twenty_rounds
from tests.documents.operator import signature_of
from tests.keyserver.server import RUN_OPERATOR, Server
from tests.keyserver.test_endpoint_walk import NONCE, OPEN, TABLE, WHO

pytestmark = pytest.mark.anyio


async def test_blocked_minting_tokens_or_fetching_keys(key_server: Server):
    places = {"key": "demo", "epoch": "1", "identifier": "a", "client": "b", "nonce": NONCE}
    for (method, path), cells in TABLE.items():
        if cells is not OPEN and cells[WHO.index("nobody")] == 401:
            answer = await key_server.send(method, path.format(**places), token=RUN_OPERATOR)
            assert answer.status_code in {401, 415}, path


async def test_blocked_putting_a_key_of_its_own_beside_the_run(opened: Bench):
    """Whose secret half it knows: only the run's key server signs epochs."""
    stranger = KeyServer(opened.clock, opened.server.pairs)
    with pytest.raises(RefusedError) as refused:
        await opened.api.put_key_epoch(opened.run, 2, KeyEpoch(record=stranger.epoch(2)), OPERATOR)
    assert (refused.value.status, refused.value.kind) == (422, "untrusted")


async def test_blocked_making_a_run_in_another_operators_name(bench: Bench):
    """It has the secret of the aggregator's door, and not the other's key."""
    named = bench.document.octets
    somebody = OperatorIdentity.drawn(Random("somebody else"))
    for header in ({}, signature_of(named, somebody)):
        given = {"Authorization": f"Bearer {OPERATOR}", "Content-Type": "application/json"}
        path = f"/v1/runs/{bench.run}"
        answer = await bench.aggregator.http.put(path, content=named, headers=given | header)
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:fedperm:problem:untrusted")
    assert (await bench.api.runs(OPERATOR)).runs == ()


async def test_blocked_changing_the_document_of_a_run(opened: Bench):
    other = document_of(opened.server, value_bits=7)
    with pytest.raises(RefusedError) as refused:
        await opened.api.create_run(other, OPERATOR)
    assert refused.value.status == 409


async def meet_a_stock_client(federation: Federation, wanted: RunDocument, **settings: Any) -> None:
    """Its owner set a budget and no more than this; only keys are as short as tests have them."""
    await federation.start(wanted=wanted)
    own = {"accept_no_record_guarantee": False, "min_contributors": 3, "max_epsilon": 8.2}
    ada = await federation.home("ada", **(own | settings))
    with ada.client() as one:
        await drive(federation, one, rounds=1)


async def test_blocked_meeting_the_epsilon_with_less_noise(federation: Federation):
    """2.4 times less, in a unit of one parameter: a record's epsilon of 7.75 becomes 23.05. The
    recipe itself is accepted (tests/client/test_ceilings.py)."""
    with pytest.raises(CeilingError) as refusal:
        await meet_a_stock_client(federation, twenty_rounds(OF_A_RECORD, SHAPED))
    (wrong,) = refusal.value.message.partition(": ")[2].split(";")
    assert wrong == "it costs a record epsilon 23.05, at most 8 is given (MAX_RECORD_EPSILON)"
    assert "change them yourself: FEDPERM_CLIENT_ and the name in brackets" in refusal.value.hint


async def test_blocked_meeting_it_with_records_that_nothing_protects(federation: Federation):
    with pytest.raises(CeilingError, match=r"a record has no bound: .*ACCEPT_NO_RECORD_GUARANTEE"):
        await meet_a_stock_client(federation, twenty_rounds(UNPROTECTED, SHAPED))


@pytest.mark.parametrize("training", [UNPROTECTED, OF_A_RECORD], ids=["unclipped", "clipped"])
async def test_blocked_lowering_the_noise_where_records_have_no_guarantee(
    federation: Federation, training: dict[str, float]
):
    """An owner who accepts that still has a floor, which a guarantee that is worth nothing does
    not move."""
    wanted = twenty_rounds({**training, "min_records": 1}, SHAPED)
    floor = r"scale b = 0.3, at least 0.5 is wanted \(MIN_LAPLACE_SCALE\)"
    with pytest.raises(CeilingError, match=floor):
        await meet_a_stock_client(federation, wanted, accept_no_record_guarantee=True)


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
