"""Access tokens: one for each place, renewed in time, and after losses."""

import asyncio
from random import Random

import pytest

from fedperm.errors import RefusedError, UnreachableError
from fedperm.services import AGGREGATOR, SERVICES
from fedperm.wire.signed import verify_any
from fedperm.wire.statements import AccessToken
from fedperm_client.access import Access
from tests.client.conftest import KEY
from tests.client.cut_line import request_of
from tests.keyserver.server import OPERATOR, TOKEN_SECONDS

pytestmark = pytest.mark.anyio

ASKING = request_of("POST", "/access-tokens")


@pytest.fixture
def access(identity, key_server_api, clock) -> Access:
    return Access(identity, key_server_api, clock, Random(3))


async def itself(token: str) -> str:
    """A request that answers with the token it was sent with."""
    return token


async def test_a_token_is_for_this_client_and_one_audience(access, identity):
    for service in SERVICES.values():
        token = verify_any(await access.using(service, itself), AccessToken, identity.key_servers)
        assert (token.sub, token.aud, token.key) == (identity.name, service.audience, KEY)


async def test_a_token_is_kept_until_shortly_before_it_expires(access, clock, line):
    first = await access.using(AGGREGATOR, itself)
    clock.advance(TOKEN_SECONDS - 31)
    assert await access.using(AGGREGATOR, itself) == first
    clock.advance(2)
    assert await access.using(AGGREGATOR, itself) != first
    assert len(line.sent(ASKING)) == 2


async def test_work_and_heartbeat_ask_for_one_token_together(access, line):
    tokens = await asyncio.gather(*[access.using(AGGREGATOR, itself) for _ in range(5)])
    assert len(set(tokens)) == 1
    assert len(line.sent(ASKING)) == 1


async def test_a_token_that_is_not_taken_is_replaced_once(access):
    refused = []

    async def once_refused(token: str) -> str:
        if not refused:
            refused.append(token)
            raise RefusedError("expired", "get a new one", status=401, kind="unauthenticated")
        return token

    assert await access.using(AGGREGATOR, once_refused) != refused[0]


async def test_a_client_that_is_refused_again_and_again_gives_up(access):
    async def refused(_token: str) -> str:
        raise RefusedError("expired", "get a new one", status=401, kind="unauthenticated")

    with pytest.raises(RefusedError, match="expired"):
        await access.using(AGGREGATOR, refused)


async def test_other_refusals_are_not_repeated(access):
    calls = []

    async def forbidden(token: str) -> str:
        calls.append(token)
        raise RefusedError("no", "do not", status=403, kind="forbidden")

    with pytest.raises(RefusedError, match="no"):
        await access.using(AGGREGATOR, forbidden)
    assert len(calls) == 1


async def test_an_assertion_whose_answer_was_lost_is_replaced_by_another(access, line):
    """The key server takes an assertion once, and refuses it when it is sent again."""
    line.after.append(ASKING)
    with pytest.raises(UnreachableError):
        await access.using(AGGREGATOR, itself)
    assert await access.using(AGGREGATOR, itself)
    bodies = {request.content for request in line.sent(ASKING)}
    assert len(bodies) == 2


async def test_assertions_that_are_lost_one_after_the_other_do_not_end_a_client(access, line):
    line.refusals += [(ASKING, 401)] * 4
    assert await access.using(AGGREGATOR, itself)
    assert len({request.content for request in line.sent(ASKING)}) == 5


async def test_a_client_that_the_key_server_does_not_know_gives_up(access, line):
    line.refusals += [(ASKING, 401)] * 100
    with pytest.raises(RefusedError) as refusal:
        await access.using(AGGREGATOR, itself)
    assert refusal.value.status == 401
    assert len(line.sent(ASKING)) == 5


async def test_a_revoked_client_is_told_so(access, identity, key_server):
    await key_server.api.revoke_client(KEY, identity.name, OPERATOR)
    with pytest.raises(RefusedError) as refusal:
        await access.using(AGGREGATOR, itself)
    assert refusal.value.status == 403
