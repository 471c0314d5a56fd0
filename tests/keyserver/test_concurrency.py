"""Many at once, in threads of two servers on one database: nothing is given twice or lost."""

import asyncio
import threading

import pytest

from fedperm.api.key_server import KeyServerApi
from fedperm.audit_chain import verify_chain
from fedperm.errors import RefusedError
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord, SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(database_url) -> str:
    return database_url


@pytest.fixture
def servers(server, start):
    """Each request of a server runs in a thread of its own."""
    return [server, start()]


async def outcomes(requests) -> list[object]:
    return await asyncio.gather(*requests, return_exceptions=True)


def refused(results) -> list[int]:
    return [result.status for result in results if isinstance(result, RefusedError)]


async def audit(api: KeyServerApi):
    entries = (await api.audit(OPERATOR)).entries
    verify_chain(entries)
    return entries


async def test_of_n_uses_of_a_pool_token_n_are_taken(servers, clock):
    minted = await servers[0].api.mint_token("demo", TokenRequest(uses=7), OPERATOR)
    members = [Member(servers[i % 2], clock) for i in range(16)]
    results = await outcomes(member.enrol(minted.token) for member in members)
    assert refused(results) == [410] * 9
    admitted = [result for result in results if not isinstance(result, RefusedError)]
    assert sorted(answer.ordinal for answer in admitted) == list(range(7))
    assert len({answer.client for answer in admitted}) == 7
    (status,) = (await servers[0].api.tokens("demo", OPERATOR)).tokens
    assert status.used == 7
    assert len([e for e in await audit(servers[0].api) if e.event == "client-enrolled"]) == 7


async def test_of_many_thieves_one_gets_in(servers, clock):
    minted = await servers[0].api.mint_token("demo", TokenRequest(), OPERATOR)
    members = [Member(servers[i % 2], clock) for i in range(10)]
    results = await outcomes(member.enrol(minted.token) for member in members)
    assert refused(results) == [409] * 9
    assert len((await servers[0].api.clients("demo", OPERATOR)).clients) == 1
    assert len([e for e in await audit(servers[0].api) if e.event == "enrolment-refused"]) == 9


async def test_one_client_that_asks_many_times_at_once_is_one_client(servers, clock):
    minted = await servers[0].api.mint_token("demo", TokenRequest(uses=5), OPERATOR)
    member = Member(servers[0], clock)
    enrolment = member.enrolment(minted.token)
    answers = await outcomes(servers[i % 2].api.enrol("demo", enrolment) for i in range(8))
    assert {answer.ordinal for answer in answers} == {0}
    (status,) = (await servers[0].api.tokens("demo", OPERATOR)).tokens
    assert status.used == 1


async def test_an_assertion_sent_many_times_at_once_buys_one_token(servers, enrolled):
    assertion = (await enrolled()).assertion()
    body = {"assertion": assertion, "audience": "fedperm-keyserver"}
    answers = await asyncio.gather(
        *(servers[i % 2].http.post("/v1/access-tokens", json=body) for i in range(8))
    )
    assert sorted(answer.status_code for answer in answers) == [201] + [401] * 7


async def test_revocations_and_rotations_at_once_make_one_epoch_each(servers, enrolled):
    """Two revocations need an epoch each; who asks for epoch 2 gets the one there is."""
    members = [await enrolled() for _ in range(3)]
    requests = [
        servers[i % 2].api.revoke_client("demo", member.name, OPERATOR)
        for i, member in enumerate([*members, *members])
    ]
    requests += [servers[i % 2].api.create_epoch("demo", 2, OPERATOR) for i in range(4)]
    results = await outcomes(requests)
    assert refused(results) == []
    revocations, rotations = results[:6], results[6:]
    assert revocations[:3] == revocations[3:]
    epochs = [number_of(servers[0], revocation.epoch) for revocation in revocations[:3]]
    assert len(set(epochs)) == 3
    assert {number_of(servers[0], rotation) for rotation in rotations} == {2}
    latest = (await servers[0].api.key("demo")).latest_epoch
    assert latest == max(epochs)
    rotated = [e.details["epoch"] for e in await audit(servers[0].api) if e.event == "key-rotated"]
    assert rotated == list(range(2, latest + 1))


def number_of(server, answer) -> int:
    return verify(answer.record, EpochRecord, server.authority.public_key).epoch


async def test_a_key_created_many_times_at_once_is_one_key(servers):
    wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))
    results = await outcomes(
        servers[i % 2].api.create_key("new", wanted, OPERATOR) for i in range(6)
    )
    assert len({status.key_id for status in results}) == 1
    created = [e for e in await audit(servers[0].api) if e.details.get("key") == "new"]
    assert len(created) == 1


async def test_of_two_servers_that_start_on_an_empty_database_one_makes_the_identity(start):
    answers = [await start().api.identity() for _ in range(2)]
    assert answers[0] == answers[1]


async def test_long_work_does_not_stop_the_server_from_answering(server, clock):
    """The key is being made, and is kept waiting until another request was answered."""
    answered = threading.Event()
    clock.meanwhile.append(lambda: answered.wait(30) or pytest.fail("nobody was answered"))
    making = asyncio.create_task(
        server.api.create_key("slow", KeyRequest(scheme=SchemeSpec.of_bits(512)), OPERATOR)
    )
    while clock.meanwhile:
        await asyncio.sleep(0)
    assert (await server.send("GET", "/livez")).status_code == 200
    assert not making.done()
    answered.set()
    assert (await making).key == "slow"
