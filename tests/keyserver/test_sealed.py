"""Without its key-encryption key the server says what it knows publicly, and nothing else."""

import pytest

from fedperm.services import AGGREGATOR
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.refusals import problem, refusal
from tests.keyserver.server import KEY_BITS, OPERATOR, OTHER_KEK

pytestmark = pytest.mark.anyio
KEKS = [None, OTHER_KEK]


async def test_with_an_empty_database_there_is_not_even_an_identity(start):
    server = start(kek=None)
    await refusal(503, "sealed", server.api.identity())
    await refusal(503, "sealed", server.api.create_key("demo", KeyRequest(), OPERATOR))
    assert problem(await server.send("GET", "/readyz")).kind == "sealed"
    assert (await server.send("GET", "/livez")).status_code == 200
    opened = start()
    assert (await opened.send("GET", "/readyz")).status_code == 200
    await opened.api.identity()


@pytest.mark.parametrize("kek", KEKS, ids=["none", "wrong"])
async def test_a_sealed_server_is_not_ready_and_says_what_to_do(server, start, kek):
    answer = await start(kek=kek).send("GET", "/readyz")
    assert answer.status_code == 503
    assert problem(answer).kind == "sealed"
    assert "key-encryption key" in problem(answer).detail
    assert "start" in problem(answer).hint
    assert (await server.send("GET", "/readyz")).status_code == 200


@pytest.mark.parametrize("kek", KEKS, ids=["none", "wrong"])
async def test_public_records_can_still_be_read(server, start, kek):
    sealed = start(kek=kek).api
    assert await sealed.identity() == await server.api.identity()
    assert await sealed.key("demo") == await server.api.key("demo")
    assert await sealed.epoch("demo", 1) == await server.api.epoch("demo", 1)
    assert await sealed.audit(OPERATOR) == await server.api.audit(OPERATOR)
    wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))
    assert await sealed.create_key("demo", wanted, OPERATOR) == await server.api.key("demo")


@pytest.mark.parametrize("kek", KEKS, ids=["none", "wrong"])
async def test_what_needs_a_secret_or_a_signature_answers_sealed(server, start, enrolled, kek):
    member = await enrolled()
    token = await member.access()
    assertion = AccessTokenRequest(assertion=member.assertion(), audience=AGGREGATOR.audience)
    before = await server.api.audit(OPERATOR)
    sealed = start(kek=kek).api
    for request in (
        sealed.create_key("new", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR),
        sealed.create_epoch("demo", 2, OPERATOR),
        sealed.revoke_client("demo", member.name, OPERATOR),
        sealed.access_token(assertion),
        sealed.release("demo", 1, token),
    ):
        await refusal(503, "sealed", request)
    assert await server.api.audit(OPERATOR) == before
    await server.api.access_token(assertion)


@pytest.mark.parametrize("kek", KEKS, ids=["none", "wrong"])
async def test_nobody_is_let_in_for_rows_could_not_be_marked(server, start, clock, kek):
    """A token that should be revoked meanwhile lets nobody in either."""
    minted = await server.api.mint_token("demo", TokenRequest(uses=2), OPERATOR)
    sealed = start(kek=kek)
    member = Member(sealed, clock)
    await refusal(503, "sealed", sealed.api.mint_token("demo", TokenRequest(), OPERATOR))
    await refusal(503, "sealed", member.enrol(minted.token))
    await refusal(503, "sealed", sealed.api.revoke_token("demo", minted.status.id, OPERATOR))
    member.server = server
    await member.enrol(minted.token)
    await member.secret_key(1)


@pytest.mark.parametrize("kek", KEKS, ids=["none", "wrong"])
@pytest.mark.usefixtures("server")
async def test_credentials_are_checked_before_anything_is_said(start, kek):
    sealed = start(kek=kek).api
    await refusal(401, "unauthenticated", sealed.create_epoch("demo", 2, "a wrong secret"))
    await refusal(401, "unauthenticated", sealed.release("demo", 1, "no token"))


async def test_a_wrong_key_encryption_key_leaves_the_database_as_it_is(server, start):
    sealed = start(kek=OTHER_KEK)
    await refusal(503, "sealed", sealed.api.create_epoch("demo", 2, OPERATOR))
    again = start()
    assert (await again.send("GET", "/readyz")).status_code == 200
    assert await again.api.identity() == await server.api.identity()


async def test_a_sealed_answer_can_be_retried(start):
    answer = await start(kek=None).send("GET", "/v1/identity")
    assert answer.headers["Retry-After"] == "1"
