"""A token lets in whom it was minted for: once, in time, with keys that nobody else holds."""

import re

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.public_keys import text_of, to_text
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEY_BITS, OPERATOR

pytestmark = pytest.mark.anyio


@pytest.fixture
def mint(server):
    async def mint(key: str = "demo", **wanted: object) -> str:
        return (await server.api.mint_token(key, TokenRequest(**wanted), OPERATOR)).token

    return mint


@pytest.fixture
def member(server, clock):
    return lambda key="demo": Member(server, clock, key)


async def refusals_recorded(server) -> list[dict]:
    entries = (await server.api.audit(OPERATOR)).entries
    return [entry.details for entry in entries if entry.event == "enrolment-refused"]


@pytest.mark.parametrize("uses", [1, 3])
async def test_the_same_token_and_keys_get_the_same_answer_and_take_no_other_use(
    server, mint, member, uses
):
    token, client = await mint(uses=uses), member()
    path = "/v1/keys/demo/clients"
    first = await server.send("POST", path, client.enrolment(token))
    again = await server.send("POST", path, client.enrolment(token))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    (status,) = (await server.api.tokens("demo", OPERATOR)).tokens
    assert (status.used, status.uses) == (1, uses)


async def test_tokens_and_clients_are_listed_with_what_the_operator_may_know(
    server, mint, member, clock
):
    """Also of another key, which is not shown."""
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    await mint("other")
    tokens = [await mint(client="hospital-a"), await mint(uses=3, expires_in_seconds=100)]
    clock.advance(5)
    client = member()
    answer = await client.enrol(tokens[0])
    assert (answer.client, answer.ordinal, answer.key) == ("hospital-a", 0, "demo")
    assert answer.key_server == server.authority.identity
    listed = (await server.api.tokens("demo", OPERATOR)).tokens
    minted_at = clock.time - 5
    assert sorted((t.uses, t.used, t.expires_at, t.revoked, t.client) for t in listed) == [
        (1, 1, minted_at + 24 * 3600, False, "hospital-a"),
        (3, 0, minted_at + 100, False, None),
    ]
    assert {t.id for t in listed} == {token.split(".")[1] for token in tokens}
    assert all(re.fullmatch("[0-9a-f]{16}", t.id) for t in listed)
    (enrolled,) = (await server.api.clients("demo", OPERATOR)).clients
    assert enrolled.model_dump() == {
        "client": "hospital-a",
        "ordinal": 0,
        "enrolled_at": clock.time,
        "revoked_at": None,
        "signing_key": text_of(client.signing.public_key()),
    }


async def test_the_answer_stays_the_same_after_the_token_expired_or_was_revoked(
    server, mint, member, clock
):
    token, client = await mint(uses=2, expires_in_seconds=100), member()
    answer = await client.enrol(token)
    clock.advance(1000)
    assert await client.enrol(token) == answer
    await server.api.revoke_token("demo", token.split(".")[1], OPERATOR)
    assert await client.enrol(token) == answer


async def test_a_single_use_token_with_other_keys_is_a_conflict_that_is_recorded(
    server, mint, member
):
    token, client = await mint(), member()
    await client.enrol(token)
    thief, half_thief = member(), member()
    half_thief.signing = client.signing
    for other in (thief, half_thief):
        await refusal(409, "conflict", other.enrol(token))
    recorded = await refusals_recorded(server)
    assert [entry["signing_key"] for entry in recorded] == [
        other.public for other in (thief, half_thief)
    ]
    assert {entry["token"] for entry in recorded} == {token.split(".")[1]}
    assert len((await server.api.clients("demo", OPERATOR)).clients) == 1


async def test_a_pool_token_serves_as_many_clients_as_it_says(mint, member):
    token = await mint(uses=3)
    names = [(await member().enrol(token)).client for _ in range(3)]
    assert names == ["client-0", "client-1", "client-2"]
    error = await refusal(410, "gone", member().enrol(token))
    assert "all 3 uses" in error.message


async def test_an_expired_token_is_gone(mint, member, clock):
    token = await mint(expires_in_seconds=100)
    clock.advance(99.9)
    await member().enrol(await mint(expires_in_seconds=1))
    clock.advance(0.1)
    error = await refusal(410, "gone", member().enrol(token))
    assert "expired" in error.message


async def test_a_revoked_token_is_gone_and_revoking_again_changes_nothing(server, mint, member):
    token = await mint(uses=5)
    await member().enrol(token)
    identifier = token.split(".")[1]
    revoked = await server.api.revoke_token("demo", identifier, OPERATOR)
    assert (revoked.revoked, revoked.used) == (True, 1)
    assert await server.api.revoke_token("demo", identifier, OPERATOR) == revoked
    error = await refusal(410, "gone", member().enrol(token))
    assert "revoked" in error.message
    events = [entry.event for entry in (await server.api.audit(OPERATOR)).entries]
    assert events.count("token-revoked") == 1


async def test_unknown_tokens_are_refused_alike(server, mint, member):
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    prefix, identifier, secret, fingerprint = (await mint()).split(".")
    wrong_secret, wrong_name = to_text(bytes(32)), "0" * 16
    for token in (
        f"{prefix}.{identifier}.{wrong_secret}.{fingerprint}",
        f"{prefix}.{wrong_name}.{secret}.{fingerprint}",
        f"{prefix}.{identifier}.{secret}.{'0' * 64}",
        await mint("other"),
        "no token at all",
        "",
    ):
        await refusal(401, "unauthenticated", member().enrol(token))
    assert await refusals_recorded(server) == []


async def test_a_token_is_for_one_key_and_the_key_must_exist(mint, member):
    await refusal(404, "unknown-resource", member("other").enrol(await mint()))


async def test_a_signing_key_enrols_once_per_key(server, mint, member):
    client = member()
    await client.enrol(await mint())
    for token in (await mint(), await mint(uses=3)):
        await refusal(409, "conflict", client.enrol(token))
    client.sealing = X25519PrivateKey.generate()
    await refusal(409, "conflict", client.enrol(await mint(uses=2)))
    assert len(await refusals_recorded(server)) == 3
    assert sum(t.used for t in (await server.api.tokens("demo", OPERATOR)).tokens) == 1


async def test_within_a_pool_another_sealing_key_is_a_conflict(server, mint, member):
    token, client = await mint(uses=3), member()
    await client.enrol(token)
    client.sealing = X25519PrivateKey.generate()
    await refusal(409, "conflict", client.enrol(token))
    assert len(await refusals_recorded(server)) == 1


async def test_the_same_keys_may_enrol_for_two_keys(server, mint, member):
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    client, twin = member(), member("other")
    twin.signing, twin.sealing = client.signing, client.sealing
    assert (await client.enrol(await mint())).ordinal == 0
    assert (await twin.enrol(await mint("other"))).ordinal == 0


async def test_a_token_may_name_its_client_and_ordinals_count_all(server, mint, member):
    tokens = [await mint(client="hospital-b"), await mint(), await mint(client="hospital-a")]
    answers = [await member().enrol(token) for token in tokens]
    assert [(a.client, a.ordinal) for a in answers] == [
        ("hospital-b", 0),
        ("client-1", 1),
        ("hospital-a", 2),
    ]
    listed = (await server.api.clients("demo", OPERATOR)).clients
    assert [client.client for client in listed] == ["hospital-b", "client-1", "hospital-a"]


async def test_a_name_is_given_once(server, mint, member, clock):
    lost = await mint(client="hospital-a", expires_in_seconds=1000)
    error = await refusal(409, "conflict", mint(client="hospital-a"))
    assert lost.split(".")[1] in error.message
    await server.api.revoke_token("demo", lost.split(".")[1], OPERATOR)
    late = await mint(client="hospital-a", expires_in_seconds=100)
    clock.advance(100)
    client = member()
    await client.enrol(await mint(client="hospital-a"))
    await refusal(409, "conflict", mint(client="hospital-a"))
    await server.api.revoke_client("demo", "hospital-a", OPERATOR)
    await refusal(409, "conflict", mint(client="hospital-a"))
    clock.advance(-100)  # a clock that was set back wakes the expired token
    await refusal(409, "conflict", member().enrol(late))


async def test_no_given_name_can_collide_with_a_generated_one(mint):
    for name in ("client-0", "client-17"):
        await refusal(422, "invalid-request", mint(client=name))
    await mint(client="client-a")
    await mint(client="client-0-x")


async def test_a_pool_token_names_nobody(mint):
    await refusal(422, "invalid-request", mint(uses=2, client="hospital-a"))


async def test_tokens_are_listed_without_their_texts(server, mint):
    token = await mint(uses=2)
    answer = await server.send("GET", "/v1/keys/demo/enrolment-tokens", token=OPERATOR)
    assert token.split(".")[1] in answer.text
    assert token.split(".")[2] not in answer.text


async def test_minting_makes_a_new_token_each_time(mint):
    assert await mint() != await mint()


async def test_tokens_of_unknown_keys_and_unknown_tokens_are_not_found(server, mint):
    await server.api.create_key("other", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    identifier = (await mint("other")).split(".")[1]
    for key, name in (("demo", identifier), ("demo", "0" * 16), ("nokey", identifier)):
        await refusal(404, "unknown-resource", server.api.revoke_token(key, name, OPERATOR))
    await refusal(404, "unknown-resource", mint("nokey"))
    await refusal(404, "unknown-resource", server.api.tokens("nokey", OPERATOR))
    await refusal(404, "unknown-resource", server.api.clients("nokey", OPERATOR))


@pytest.mark.parametrize(
    "change",
    [{"key": "other"}, {"aud": "0" * 64}, {"token": "0" * 64}],
    ids=["another key", "another key server", "another token"],
)
async def test_a_proof_is_for_one_enrolment(server, mint, member, change):
    enrolment = member().enrolment(await mint(), **change)
    await refusal(422, "untrusted", server.api.enrol("demo", enrolment))


async def test_a_proof_is_signed_with_the_key_that_it_names(server, mint, member):
    one, other = member(), member()
    enrolment = one.enrolment(await mint(), signing_key=other.public)
    await refusal(422, "untrusted", server.api.enrol("demo", enrolment))
    assert (await server.api.clients("demo", OPERATOR)).clients == ()


async def test_enrolments_are_recorded_with_who_and_by_which_token(server, mint, member):
    token, client = await mint(client="hospital-a"), member()
    await client.enrol(token)
    entries = {e.event: e.details for e in (await server.api.audit(OPERATOR)).entries}
    assert entries["token-minted"]["token"] == token.split(".")[1]
    assert entries["token-minted"]["client"] == "hospital-a"
    assert entries["client-enrolled"]["client"] == "hospital-a"
    assert entries["client-enrolled"]["signing_key"] == client.public
