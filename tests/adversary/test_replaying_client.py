"""An enrolled client that wants to count twice, as somebody else, or as many."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fedperm.services import AGGREGATOR
from fedperm.wire.aggregator import MANIFEST
from fedperm.wire.key_server import AccessTokenRequest, Enrolment, TokenRequest
from fedperm.wire.public_keys import to_text
from fedperm.wire.signed import Statement, sign, unverified
from fedperm.wire.statements import EnrolmentProof
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.aggregator.parties import Client, Prepared, bounded_by_hand, decrypted
from tests.aggregator.uploading import UNTRUSTED, headers, put, refused
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import OPERATOR, Server

pytestmark = pytest.mark.anyio


async def test_blocked_taking_anothers_place(opened: Bench, clients: list[Client]):
    """With its own credential at another's path, and in another's name."""
    ada, ben, _ = clients
    prepared = opened.prepare(ben, 1)
    answer = await put(opened, ada, headers(opened, ben, prepared), prepared.body)
    assert answer.status_code == 403
    impostor = Client("ada")
    prepared = opened.prepare(impostor, 1)
    assert await refused(opened, impostor, 1, prepared) == (403, "forbidden")


async def test_blocked_signing_for_another(opened: Bench, clients: list[Client]):
    ada, ben, _ = clients
    prepared = opened.prepare(ada, 1)
    forged = Client("ada", ben.signing).manifest(opened.document, 1, 1, prepared.body)
    given = headers(opened, ada, prepared) | {MANIFEST: forged}
    answer = await put(opened, ada, given, prepared.body)
    assert (answer.status_code, answer.json()["type"]) == (422, UNTRUSTED)


async def test_blocked_replaying_an_old_round(opened: Bench, clients: list[Client]):
    """The manifest says for which round, run, client and body it is."""
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    old = opened.sent[1, "ada"]
    assert await refused(opened, clients[0], 2, old) == (422, "untrusted")


async def test_blocked_being_counted_twice(opened: Bench, clients: list[Client]):
    """The same bytes change nothing, also when the round is over; other bytes are refused."""
    await opened.contribute(1, *clients)
    first = opened.sent[1, "ada"]
    await opened.upload(clients[0], 1, first)
    assert await refused(opened, clients[0], 1, opened.prepare(clients[0], 1)) == (409, "conflict")
    opened.sent[1, "ada"] = first
    await opened.aggregator.tick()
    await opened.upload(clients[0], 1, first)
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_blocked_being_one_client_too_many(opened: Bench):
    """Slots are cut for three: a fourth could make them carry."""
    dora = Client("dora")
    await opened.join(dora)
    assert await refused(opened, dora, 1, opened.prepare(dora, 1)) == (403, "forbidden")


async def test_not_covered_copying_anothers_update(opened: Bench, clients: list[Client]):
    """Whoever gets hold of another's upload can sign it as his own: nobody has to know what is in
    the masks that he sends."""
    ada, ben, cleo = clients
    await opened.contribute(1, ben, cleo)
    seen = opened.sent[1, "ben"]
    copied = Prepared(
        seen.body, ada.manifest(opened.document, 1, 1, seen.body), seen.coded, seen.shuffled
    )
    await opened.upload(ada, 1, copied)
    await opened.aggregator.tick()
    content = opened.document.content
    body = await opened.api.aggregate(opened.run, 1, RUN_OPERATOR)
    twice, once = (
        bounded_by_hand(opened.sent[1, name].coded, content) * count
        for name, count in (("ben", 2), ("cleo", 1))
    )
    assert (decrypted(body, content, opened.pair()) == twice + once).all()


async def test_blocked_enrolling_twice_with_one_token(key_server: Server, clock):
    minted = await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)
    await Member(key_server, clock).enrol(minted.token)
    await refusal(409, "conflict", Member(key_server, clock).enrol(minted.token))


async def test_blocked_enrolling_one_key_under_two_names(
    key_server: Server, enrolled: Enrol, clock
):
    member = await enrolled()
    token = (await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)).token
    twin = Member(key_server, clock)
    twin.signing = member.signing
    await refusal(409, "conflict", twin.enrol(token))


async def test_blocked_enrolling_under_a_name_that_is_taken(key_server: Server, enrolled: Enrol):
    """There is not even a token for it."""
    await enrolled(client="ada")
    wanted = TokenRequest(client="ada")
    await refusal(409, "conflict", key_server.api.mint_token("demo", wanted, OPERATOR))


async def test_blocked_getting_a_key_from_before_its_enrolment(key_server: Server, enrolled: Enrol):
    """The rounds of that time are not for it, and who was revoked then must not come back so."""
    early = await enrolled()
    await key_server.api.revoke_client("demo", early.name, OPERATOR)
    late = await enrolled()
    await refusal(403, "earlier-epoch", late.secret_key(1))
    assert await late.secret_key(2)


IDENTITY = bytes([1, *bytes(31)])
"""The neutral point of Ed25519. It has no private half, and needs none: with it as the key and as
R, and 0 as S, the equation S B = R + h A is 0 = 0 whatever was signed."""


def signed_by_anybody(statement: Statement) -> str:
    header, payload, _ = sign(statement, Ed25519PrivateKey.generate()).split(".")
    forged = IDENTITY + bytes(32)
    Ed25519PublicKey.from_public_bytes(IDENTITY).verify(forged, f"{header}.{payload}".encode())
    return f"{header}.{payload}.{to_text(forged)}"


async def test_blocked_enrolling_a_key_for_which_anybody_signs(key_server: Server, clock):
    """Uploads in its name would be anybody's. The library takes such signatures, as one sees."""
    token = (await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)).token
    right = unverified(Member(key_server, clock).enrolment(token).proof, EnrolmentProof)
    weak = right.model_copy(update={"signing_key": to_text(IDENTITY)})
    enrolment = Enrolment(token=token, proof=signed_by_anybody(weak))
    await refusal(422, "untrusted", key_server.api.enrol("demo", enrolment))
    assert (await key_server.api.clients("demo", OPERATOR)).clients == ()


async def test_blocked_enrolling_a_key_that_it_has_only_seen(key_server: Server, clock):
    """A public key of somebody who would enrol later, or whose uploads it wants to be its own."""
    owner, thief = Member(key_server, clock), Member(key_server, clock)
    token = (await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)).token
    enrolment = thief.enrolment(token, signing_key=owner.public)
    await refusal(422, "untrusted", key_server.api.enrol("demo", enrolment))
    await owner.enrol(token)


async def test_detected_trying_a_used_token(key_server: Server, clock):
    """Each enrolment, and each attempt with a token in second hands, is in the audit log."""
    minted = await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)
    await Member(key_server, clock).enrol(minted.token)
    await refusal(409, "conflict", Member(key_server, clock).enrol(minted.token))
    events = [entry.event for entry in (await key_server.api.audit(OPERATOR)).entries]
    assert events[-2:] == ["client-enrolled", "enrolment-refused"]


async def test_not_covered_being_as_many_clients_as_a_pool_token_has_uses(
    key_server: Server, clock
):
    minted = await key_server.api.mint_token("demo", TokenRequest(uses=3), OPERATOR)
    for _ in range(3):
        await Member(key_server, clock).enrol(minted.token)
    names = {status.client for status in (await key_server.api.clients("demo", OPERATOR)).clients}
    assert len(names) == 3


async def test_blocked_using_an_assertion_twice(key_server: Server, enrolled: Enrol):
    member = await enrolled()
    once = AccessTokenRequest(assertion=member.assertion(), audience=AGGREGATOR.audience)
    await key_server.api.access_token(once)
    await refusal(401, "unauthenticated", key_server.api.access_token(once))


async def test_blocked_making_tokens_of_its_own(opened: Bench, clients: list[Client]):
    """Only the run's key server signs them; not even "no signature" will do."""
    server = opened.server
    server.signing, right = Ed25519PrivateKey.generate(), server.signing
    forged = server.token(clients[0])
    server.signing = right
    unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0." + forged.split(".")[1] + "."
    for token in (forged, unsigned):
        answer = await opened.aggregator.http.get(
            f"/v1/runs/{opened.run}", headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 401
