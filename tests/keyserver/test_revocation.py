"""Whoever is revoked gets nothing more, and the key that he knows is the key of the past."""

import asyncio

import pytest

from fedperm.services import SERVICES
from fedperm.wire.key_server import TokenRequest
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio


async def test_revoking_a_client_makes_the_next_epoch_in_the_same_answer(server, enrolled, clock):
    member = await enrolled()
    clock.advance(5)
    revocation = await server.api.revoke_client("demo", member.name, OPERATOR)
    record = verify(revocation.epoch.record, EpochRecord, server.authority.public_key)
    assert (revocation.client, record.epoch) == (member.name, 2)
    assert (await server.api.key("demo")).latest_epoch == 2
    (status,) = (await server.api.clients("demo", OPERATOR)).clients
    assert status.revoked_at == clock.time


async def test_revoking_again_answers_the_same_also_after_other_rotations(server, enrolled):
    member = await enrolled()
    first = await server.api.revoke_client("demo", member.name, OPERATOR)
    await server.api.create_epoch("demo", 3, OPERATOR)
    assert await server.api.revoke_client("demo", member.name, OPERATOR) == first
    assert (await server.api.key("demo")).latest_epoch == 3


async def test_a_revoked_client_gets_no_access_token_and_no_release(server, enrolled):
    member = await enrolled()
    token = await member.access()
    await server.api.revoke_client("demo", member.name, OPERATOR)
    for service in SERVICES.values():
        await refusal(403, "forbidden", member.access(service))
    for epoch in (1, 2):
        await refusal(403, "forbidden", server.api.release("demo", epoch, token))


async def test_the_others_go_on_with_the_new_epoch(server, enrolled):
    gone, stays = await enrolled(), await enrolled()
    await server.api.revoke_client("demo", gone.name, OPERATOR)
    key_id = (await stays.secret_key(2)).public_key.key_id
    assert key_id == (await server.api.key("demo")).key_id


async def test_a_revoked_client_cannot_come_back_with_its_pool_token(server, clock):
    """It knows the token's text: with other keys it would be a new client."""
    token = (await server.api.mint_token("demo", TokenRequest(uses=5), OPERATOR)).token
    member, neighbour = Member(server, clock), Member(server, clock)
    await member.enrol(token)
    answer = await neighbour.enrol(token)
    await server.api.revoke_client("demo", member.name, OPERATOR)
    await refusal(410, "gone", Member(server, clock).enrol(token))
    assert await neighbour.enrol(token) == answer
    await neighbour.secret_key(2)


async def test_names_and_ordinals_of_revoked_clients_are_not_given_again(server, enrolled):
    first = await enrolled()
    await server.api.revoke_client("demo", first.name, OPERATOR)
    assert (await enrolled()).name == "client-1"


async def test_unknown_clients_cannot_be_revoked(server):
    for key in ("demo", "other"):
        await refusal(404, "unknown-resource", server.api.revoke_client(key, "client-0", OPERATOR))


async def test_a_revocation_is_recorded_with_the_rotation_that_it_made(server, enrolled):
    member = await enrolled()
    await server.api.revoke_client("demo", member.name, OPERATOR)
    entries = {e.event: e.details for e in (await server.api.audit(OPERATOR)).entries}
    assert entries["client-revoked"] == {"key": "demo", "client": member.name, "epoch": 2}
    assert entries["key-rotated"]["why"] == f"client {member.name} was revoked"
    assert entries["token-revoked"]["why"] == f"client {member.name} was revoked"


async def test_a_rotation_that_comes_between_does_not_stand_for_the_revocations_own(
    server, start, enrolled, clock
):
    """The client was still enrolled when that epoch was made and may have fetched it."""
    member, other = await enrolled(), start()
    clock.meanwhile.append(lambda: asyncio.run(rotate(other, 2)))
    revocation = await server.api.revoke_client("demo", member.name, OPERATOR)
    record = verify(revocation.epoch.record, EpochRecord, server.authority.public_key)
    assert record.epoch == 3
    assert (await server.api.key("demo")).latest_epoch == 3
    assert (await server.api.epoch("demo", 3)) == revocation.epoch
    stays = await enrolled()
    assert (await stays.secret_key(3)).public_key.key_id == record.key_id


async def rotate(server, epoch: int) -> None:
    await server.api.create_epoch("demo", epoch, OPERATOR)


async def revoke(server, client: str) -> None:
    await server.api.revoke_client("demo", client, OPERATOR)


async def test_a_revocation_that_comes_between_stops_a_release(server, start, enrolled, clock):
    """Between looking the client up and recording the release."""
    member, other = await enrolled(), start()
    token = await member.access()
    looks = [lambda: None] * 3  # at the token, and at how many calls and releases there were
    clock.meanwhile += [*looks, lambda: asyncio.run(revoke(other, member.name))]
    await refusal(403, "forbidden", server.api.release("demo", 1, token))
    events = [entry.event for entry in (await server.api.audit(OPERATOR)).entries]
    assert "client-revoked" in events
    assert "key-released" not in events


async def test_two_rotations_to_one_number_make_one_epoch(server, start, clock):
    other = start()
    clock.meanwhile.append(lambda: asyncio.run(rotate(other, 2)))
    second = await server.send("PUT", "/v1/keys/demo/epochs/2", token=OPERATOR)
    assert second.status_code == 200
    assert second.json() == (await server.api.epoch("demo", 2)).model_dump()
    events = [entry.event for entry in (await server.api.audit(OPERATOR)).entries]
    assert events.count("key-rotated") == 1
