"""Access tokens for those who sign a fresh assertion, once per assertion; releases for them."""

import hashlib
import json
import re

import pytest

from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import CREDENTIAL_BODY
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign, verify
from fedperm.wire.statements import AccessToken, Manifest, SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEY_BITS, OPERATOR, TOKEN_SECONDS, Server

pytestmark = pytest.mark.anyio


def ask(server, assertion: str):
    return server.api.access_token(
        AccessTokenRequest(assertion=assertion, audience=KEY_SERVER.audience)
    )


async def test_an_assertion_buys_one_access_token(server, enrolled):
    assertion = (await enrolled()).assertion()
    granted = await ask(server, assertion)
    error = await refusal(401, "unauthenticated", ask(server, assertion))
    assert "used before" in error.message
    token = verify(granted.access_token, AccessToken, server.authority.public_key)
    assert granted.expires_at == token.exp


async def test_an_access_token_says_who_may_do_what_where_and_until_when(server, enrolled, clock):
    clock.advance(0.7)
    member, issued = await enrolled(client="hospital-a"), int(clock.time)
    texts = [await member.access(AGGREGATOR) for _ in range(2)]
    one, two = (verify(text, AccessToken, server.authority.public_key) for text in texts)
    assert one.model_dump(mode="json", exclude={"jti"}) == {
        "iss": server.authority.identity.fingerprint,
        "sub": "hospital-a",
        "aud": "fedperm-aggregator",
        "scope": "participate",
        "key": "demo",
        "cnf": {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": text_of(member.signing.public_key())}},
        "iat": issued,
        "exp": issued + TOKEN_SECONDS,
    }
    assert re.fullmatch("[0-9a-f]{32}", one.jti)
    assert one.jti != two.jti


async def test_two_clients_may_use_the_same_jti(server, enrolled):
    one, two = await enrolled(), await enrolled()
    for member in (one, two):
        await ask(server, member.assertion(jti="mine"))


async def test_used_assertions_are_remembered_until_nobody_would_take_them(server, enrolled, clock):
    """Valid until exp and the leeway of 60 s; forgotten only afterwards."""
    member = await enrolled()
    assertion = member.assertion(exp=int(clock.time) + 300)
    await ask(server, assertion)
    clock.advance(360)
    await ask(server, member.assertion())
    error = await refusal(401, "unauthenticated", ask(server, assertion))
    assert "used before" in error.message
    clock.advance(1)
    await ask(server, member.assertion())
    error = await refusal(401, "unauthenticated", ask(server, assertion))
    assert "expired" in error.message


@pytest.mark.parametrize(
    ("issued", "expires"),
    [(-400, -61), (61, 100), (0, 301), (10, 5), (-300, 1)],
    ids=["expired", "of the future", "too long", "backwards", "too long in the past"],
)
async def test_an_assertion_is_short_and_of_now(server, enrolled, clock, issued, expires):
    member, now = await enrolled(), int(clock.time)
    assertion = member.assertion(iat=now + issued, exp=now + expires)
    await refusal(401, "unauthenticated", ask(server, assertion))


@pytest.mark.parametrize(
    ("issued", "expires"), [(-300, -60), (60, 100), (0, 300), (-5, 0), (0, 0)], ids=str
)
async def test_clocks_may_differ_by_a_minute(server, enrolled, clock, issued, expires):
    member, now = await enrolled(), int(clock.time)
    await ask(server, member.assertion(iat=now + issued, exp=now + expires))


async def test_an_assertion_is_for_this_key_server_and_of_an_enrolled_client(
    server, enrolled, clock
):
    member, stranger = await enrolled(), Member(server, clock)
    impostor = Member(server, clock)
    impostor.name = member.name
    for assertion in (
        member.assertion(aud="0" * 64),
        member.assertion(iss="client-7"),
        member.assertion(key="other"),
        stranger.assertion(),
        impostor.assertion(),
        "a.b.c",
        "",
    ):
        await refusal(401, "unauthenticated", ask(server, assertion))


async def test_another_statement_of_the_client_is_no_assertion(server, enrolled):
    member = await enrolled()
    manifest = Manifest(
        run="demo",
        document="0" * 64,
        round=1,
        epoch=1,
        client=member.name,
        sha256="0" * 64,
        size=1,
    )
    await refusal(401, "unauthenticated", ask(server, sign(manifest, member.signing)))


async def test_an_access_token_expires(server, enrolled, clock):
    token = await (await enrolled()).access()
    clock.advance(TOKEN_SECONDS + 60)
    await server.api.release("demo", 1, token)
    clock.advance(1)
    await refusal(401, "unauthenticated", server.api.release("demo", 1, token))


async def test_a_token_for_the_aggregator_releases_nothing(server, enrolled):
    token = await (await enrolled()).access(AGGREGATOR)
    await refusal(403, "forbidden", server.api.release("demo", 1, token))


async def test_a_client_of_another_key_releases_nothing(server, enrolled):
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    token = await (await enrolled("other")).access()
    await refusal(403, "forbidden", server.api.release("demo", 1, token))
    await server.api.release("other", 1, token)


async def test_there_is_no_release_of_an_epoch_that_is_not_there(server, enrolled):
    token = await (await enrolled()).access()
    await refusal(404, "unknown-resource", server.api.release("demo", 2, token))


async def test_a_client_is_given_the_epochs_from_its_enrolment_on(server, enrolled, clock):
    early = await enrolled()
    await server.api.create_epoch("demo", 2, OPERATOR)
    late = await enrolled()
    clock.advance(1)
    await server.api.create_epoch("demo", 3, OPERATOR)
    assert [(await early.release(epoch)).epoch for epoch in (1, 2, 3)] == [1, 2, 3]
    assert [(await late.release(epoch)).epoch for epoch in (2, 3)] == [2, 3]
    error = await refusal(403, "earlier-epoch", late.release(1))
    assert "enrolled in epoch 2" in error.message
    assert "checkpoint" in error.hint


async def test_a_token_that_somebody_else_signed_is_none(server, enrolled):
    member = await enrolled()
    token = verify(await member.access(), AccessToken, server.authority.public_key)
    forged = sign(token, member.signing)
    await refusal(401, "unauthenticated", server.api.release("demo", 1, forged))


async def test_every_release_is_recorded_with_the_hash_of_what_left(server, enrolled):
    member = await enrolled(client="hospital-a")
    token = await member.access()
    released = [(await server.api.release("demo", 1, token)).release for _ in range(2)]
    assert released[0] != released[1]
    entries = (await server.api.audit(OPERATOR)).entries
    recorded = [entry.details for entry in entries if entry.event == "key-released"]
    assert [entry["release_sha256"] for entry in recorded] == [sha256(text) for text in released]
    assert {(e["key"], e["epoch"], e["client"]) for e in recorded} == {("demo", 1, "hospital-a")}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def test_without_its_record_a_release_does_not_leave(server, enrolled):
    """The database fails when the entry is written: the answer is no release."""
    token = await (await enrolled()).access()
    with server.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE audit_entries RENAME TO hidden")
    answer = await server.send("POST", "/v1/keys/demo/epochs/1/releases", token=token)
    assert answer.status_code >= 500
    assert "release" not in answer.json()


async def post(server, body: bytes):
    return await server.http.post(
        "/v1/access-tokens", content=body, headers={"Content-Type": "application/json"}
    )


async def test_the_signature_is_looked_at_before_the_rest_of_the_body(server, enrolled, clock):
    """Whoever cannot sign does not hear what else is wrong with what he sends."""
    member, stranger = await enrolled(), Member(server, clock)
    for signer, status in ((stranger, 401), (member, 422)):
        body = json.dumps({"assertion": signer.assertion(), "audience": "moon", "more": 1})
        assert (await post(server, body.encode())).status_code == status
    for body in (b"{}", b"[]", b'{"assertion": 1, "audience": "fedperm-keyserver"}'):
        assert (await post(server, body)).status_code == 422


async def test_an_assertion_that_is_none_is_told_what_is_wrong(server, enrolled):
    member = await enrolled()
    for text, why in (
        (member.assertion() + "=", "without padding"),
        (await member.access(), "signed as something else"),
        ("a.b.c", "not a JWS"),
    ):
        error = await refusal(401, "unauthenticated", ask(server, text))
        assert why in error.message


async def test_a_used_assertion_is_not_used_up_by_a_wrong_audience(server, enrolled):
    assertion = (await enrolled()).assertion()
    wrong = json.dumps({"assertion": assertion, "audience": "moon"}).encode()
    assert (await post(server, wrong)).status_code == 422
    await ask(server, assertion)


async def test_the_longest_right_body_is_far_below_the_limit(server, clock):
    """Names and words as long as they may be."""
    member = Member(server, clock, key="k" * 63)
    member.name = "c" * 63
    asked = AccessTokenRequest(
        assertion=member.assertion(jti="j" * 64, iat=2**53 - 1, exp=2**53 - 1),
        audience=KEY_SERVER.audience,
    )
    token = f"fpt1.{'a' * 63}.{'A' * 43}.{'0' * 64}"
    for message in (asked, member.enrolment(token)):
        assert len(message.model_dump_json().encode()) < CREDENTIAL_BODY / 2


@pytest.fixture
def limited(tmp_path, clock):
    """Two of each at once, then one in ten seconds."""
    few = RateLimit(2, 0.1, clock)
    server = Server(
        tmp_path / "limited", clock, release_limit=few, grant_limit=RateLimit(9, 1, clock)
    )
    yield server
    server.close()


async def test_a_client_is_given_so_many_keys_and_no_more(limited, clock):
    """Each is a permanent entry of the audit log. Other clients are not held up."""
    await limited.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    one, two = [await member_of(limited, clock) for _ in range(2)]
    token = await one.access()
    path = "/v1/keys/demo/epochs/1/releases"
    answers = [await limited.send("POST", path, token=token) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
    assert answers[-1].headers["Retry-After"] == "10"
    again = await limited.send("POST", path, token=await one.access())
    assert again.status_code == 429, "another token is no other client"
    await two.release(1)
    entries = (await limited.api.audit(OPERATOR)).entries
    assert [entry.event for entry in entries].count("key-released") == 3
    clock.advance(10)
    await one.release(1)


async def test_a_client_gets_so_many_access_tokens_and_no_more(limited, clock):
    await limited.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    one, two = [await member_of(limited, clock) for _ in range(2)]
    for _ in range(9):
        await one.access()
    error = await refusal(429, "rate-limit", ask(limited, one.assertion()))
    assert error.hint == "wait 1.0 s"
    await two.access()


async def member_of(server, clock) -> Member:
    member = Member(server, clock)
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    await member.enrol(minted.token)
    return member
