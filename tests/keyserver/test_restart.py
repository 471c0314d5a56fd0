"""Another process on the same database goes on where the first one stopped."""

import pytest

from fedperm.audit_chain import verify_chain
from fedperm.services import AGGREGATOR
from fedperm.wire.key_server import AccessTokenRequest, TokenRequest
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio


async def test_identity_keys_clients_and_audit_log_survive(server, start, enrolled):
    member = await enrolled()
    await server.api.revoke_client("demo", (await enrolled()).name, OPERATOR)
    before = [
        await server.api.identity(),
        await server.api.keys(OPERATOR),
        await server.api.epoch("demo", 2),
        await server.api.tokens("demo", OPERATOR),
        await server.api.clients("demo", OPERATOR),
        await server.api.audit(OPERATOR),
    ]
    first = (await member.secret_key(1)).public_key
    server.close()
    after = start()
    assert before[:5] == [
        await after.api.identity(),
        await after.api.keys(OPERATOR),
        await after.api.epoch("demo", 2),
        await after.api.tokens("demo", OPERATOR),
        await after.api.clients("demo", OPERATOR),
    ]
    entries = (await after.api.audit(OPERATOR)).entries
    assert entries[: len(before[5].entries)] == before[5].entries
    verify_chain(entries)
    member.server = after
    assert (await member.secret_key(1)).public_key == first


async def test_access_tokens_of_before_are_good_and_used_assertions_stay_used(
    server, start, enrolled
):
    member = await enrolled()
    token, assertion = await member.access(), member.assertion()
    wanted = AccessTokenRequest(assertion=assertion, audience=AGGREGATOR.audience)
    await server.api.access_token(wanted)
    server.close()
    after = start()
    await after.api.release("demo", 1, token)
    error = await refusal(401, "unauthenticated", after.api.access_token(wanted))
    assert "used before" in error.message


async def test_an_enrolment_whose_answer_was_lost_is_answered_by_the_next_process(
    server, start, clock
):
    minted = await server.api.mint_token("demo", TokenRequest(uses=2), OPERATOR)
    member = Member(server, clock)
    lost = await member.enrol(minted.token)
    server.close()
    member.server = start()
    assert await member.enrol(minted.token) == lost
    (status,) = (await member.server.api.tokens("demo", OPERATOR)).tokens
    assert status.used == 1
