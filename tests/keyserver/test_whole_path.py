"""From an empty database to a client that decrypts: enrol, access, release, open."""

import pytest
from gmpy2 import mpz

from fedperm.errors import UntrustedError
from fedperm.services import SERVICES
from fedperm.wire.key_server import TokenRequest
from fedperm.wire.public_keys import from_text
from fedperm.wire.signed import verify
from fedperm.wire.statements import AccessToken, EpochRecord, KeyRelease
from fedperm_secret.schemes.paillier.decryption import Decryptor
from tests.keys.sealing import open_key
from tests.keyserver.member import Member
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio


async def test_a_client_decrypts_what_the_public_half_encrypted(enrolled, randomness):
    member = await enrolled()
    public = (await member.record(1)).public_key(insecure_for_tests=True)
    ciphertext = public.encrypt(mpz(4711), public.blinding_factor(public.draw_unit(randomness)))
    assert Decryptor(await member.secret_key(1)).decrypt(ciphertext) == 4711


async def test_all_clients_of_a_key_get_the_same_secret_key(enrolled):
    one, two = await enrolled(), await enrolled()
    keys = [(await member.secret_key(1)).public_key for member in (one, two)]
    assert keys[0] == keys[1] == (await one.record(1)).public_key(insecure_for_tests=True)


async def test_old_epochs_stay_for_those_who_were_enrolled_then(server, enrolled):
    member = await enrolled()
    for epoch in (2, 3):
        await server.api.create_epoch("demo", epoch, OPERATOR)
    released = [(await member.secret_key(epoch)).public_key for epoch in (1, 2, 3)]
    records = [(await member.record(epoch)).key_id for epoch in (1, 2, 3)]
    assert [key.key_id for key in released] == records
    assert len(set(records)) == 3


async def test_a_sealed_key_opens_for_no_other_client_epoch_or_key(server, enrolled):
    member, other = await enrolled(), await enrolled()
    await server.api.create_epoch("demo", 2, OPERATOR)
    sealed = from_text((await member.release(1)).sealed)
    place = {"key": "demo", "epoch": 1, "client": member.name}
    open_key(sealed, member.sealing, **place)
    for change in ({"key": "other"}, {"epoch": 2}, {"client": other.name}):
        with pytest.raises(UntrustedError):
            open_key(sealed, member.sealing, **{**place, **change})
    with pytest.raises(UntrustedError):
        open_key(sealed, other.sealing, **place)


async def test_what_is_signed_is_signed_by_the_published_key_and_as_its_kind_only(server, enrolled):
    member = await enrolled()
    identity = await server.api.identity()
    assert identity == server.authority.identity
    record = (await server.api.epoch("demo", 1)).record
    token = await member.access()
    release = (await server.api.release("demo", 1, token)).release
    statements = {EpochRecord: record, AccessToken: token, KeyRelease: release}
    for kind, text in statements.items():
        verify(text, kind, server.authority.public_key)
        with pytest.raises(UntrustedError):
            verify(text, kind, member.signing.public_key())
        for other in statements.keys() - {kind}:
            with pytest.raises(UntrustedError, match="signed as something else"):
                verify(text, other, server.authority.public_key)


async def test_the_token_carries_the_fingerprint_of_the_key_that_signs(server, clock):
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    answered = await Member(server, clock).enrol(minted.token)
    assert minted.token.split(".")[3] == answered.key_server.fingerprint
    assert answered.key_server == server.authority.identity


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
async def test_an_access_token_says_who_may_do_what_where(server, enrolled, clock, service):
    member = await enrolled(client="hospital-a")
    token = verify(await member.access(service), AccessToken, server.authority.public_key)
    assert (token.sub, token.key, token.aud) == ("hospital-a", "demo", service.audience)
    assert token.scope == service.scope
    assert token.iss == server.authority.identity.fingerprint
    assert token.cnf.jwk.x == member.public
    assert (token.iat, token.exp) == (clock.time, clock.time + 300)
