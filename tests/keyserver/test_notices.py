"""What the key server tells a client for others to believe, or of the newest epoch: signed."""

import pytest

from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import verify
from fedperm.wire.statements import ClientCertificate, EpochNotice
from tests.keyserver.refusals import refusal
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio

ONE, TWO = "1a" * 16, "2b" * 16


async def newest(server, member, nonce: str) -> EpochNotice:
    answer = await server.api.newest_epoch("demo", nonce, await member.access())
    return verify(answer.notice, EpochNotice, server.authority.public_key)


async def test_a_client_is_told_the_newest_epoch_for_its_nonce(server, enrolled, clock):
    member, other = await enrolled(), await enrolled()
    first = await newest(server, member, ONE)
    assert (first.key, first.epoch, first.nonce) == ("demo", 1, ONE)
    assert first.iat == int(clock.time)
    await server.api.revoke_client("demo", other.name, OPERATOR)
    second = await newest(server, member, TWO)
    assert (second.epoch, second.nonce) == (2, TWO)


@pytest.mark.parametrize("nonce", ["0F" * 16, "0f" * 15, "0f" * 17, "zz" * 16])
async def test_what_is_no_nonce_is_refused(server, enrolled, nonce):
    token = await (await enrolled()).access()
    await refusal(422, "invalid-request", server.api.newest_epoch("demo", nonce, token))


async def test_a_revoked_client_is_told_nothing_though_its_token_lives(server, enrolled):
    member = await enrolled()
    token = await member.access()
    await server.api.revoke_client("demo", member.name, OPERATOR)
    await refusal(403, "forbidden", server.api.newest_epoch("demo", ONE, token))
    await refusal(403, "forbidden", server.api.certificate("demo", member.name, token))


async def test_a_certificate_says_whose_a_signing_key_is_and_is_the_same_again(
    server, enrolled, clock
):
    enrolled_at = int(clock.time)
    member = await enrolled(client="hospital-a")
    token = await member.access()
    text = (await server.api.certificate("demo", "hospital-a", token)).certificate
    assert verify(text, ClientCertificate, server.authority.public_key) == ClientCertificate(
        key="demo",
        client="hospital-a",
        signing_key=text_of(member.signing.public_key()),
        iat=enrolled_at,
    )
    clock.advance(100)
    again = await server.api.certificate("demo", "hospital-a", await member.access())
    assert again.certificate == text


async def test_a_certificate_is_for_its_own_client_only(server, enrolled):
    member, other = await enrolled(), await enrolled()
    asking = server.api.certificate("demo", other.name, await member.access())
    assert "only" in (await refusal(403, "forbidden", asking)).message
