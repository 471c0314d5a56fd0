"""Sealed checkpoints: who vouches for them, whose octets are wanted, and what is on offer."""

from typing import Any

import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import SignedCheckpoint
from fedperm.wire.checkpoint import encode_sealed, sealed_body
from fedperm.wire.digest import content_digest, sha256_of
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign, unverified
from fedperm.wire.statements import CheckpointStatement, ClientCertificate
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio


def sealed(bench: Bench, content: int) -> bytes:
    """Octets as clients would seal them: the aggregator cannot tell."""
    parameters = bench.document.content.model.parameters
    size = sealed_body(parameters).tensors[0].size
    return encode_sealed(bytes([content]) * size, parameters)


def certificate(bench: Bench, client: Client, /, **changes: Any) -> str:
    members = {
        "key": bench.server.key,
        "client": client.name,
        "signing_key": text_of(client.signing.public_key()),
        "iat": 0,
    }
    return sign(ClientCertificate(**(members | changes)), bench.server.signing)


def statement(bench: Bench, client: Client, body: bytes, /, **changes: Any) -> str:
    members = {
        "run": bench.run,
        "document": bench.document.sha256,
        "round": 1,
        "epoch": 1,
        "lineage": "a1" * 32,
        "sha256": sha256_of(body),
        "size": len(body),
        "client": client.name,
    }
    return sign(CheckpointStatement(**(members | changes)), client.signing)


async def vouch(bench: Bench, client: Client, body: bytes, **changes: Any) -> bool:
    signed = SignedCheckpoint(
        statement=statement(bench, client, body, **changes), certificate=certificate(bench, client)
    )
    return await put(bench, client, signed, changes.get("round", 1))


async def put(bench: Bench, client: Client, signed: SignedCheckpoint, number: int = 1) -> bool:
    token = bench.server.token(client)
    receipt = await bench.api.sign_checkpoint(bench.run, number, client.name, signed, token)
    return receipt.wanted


async def send(bench: Bench, client: Client, body: bytes, number: int = 1) -> None:
    await bench.api.send_checkpoint(
        bench.run, number, client.name, body, bench.server.token(client)
    )


async def refusal(awaitable: Any) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await awaitable
    return caught.value.status, caught.value.kind


def on_disk(bench: Bench) -> list[str]:
    state = bench.aggregator.settings.state_directory
    return sorted(path.name for path in state.glob("runs/*/checkpoint.*"))


@pytest.fixture
async def published(opened: Bench) -> Bench:
    """Round 1 is the sum of all three."""
    await settle(opened, 1)
    return opened


async def settle(bench: Bench, number: int) -> None:
    await bench.contribute(number, *bench.clients)
    await bench.aggregator.tick()


async def test_octets_are_wanted_once_more_than_half_have_signed_the_same(published: Bench):
    ada, ben, cleo = published.clients
    body, other = sealed(published, 1), sealed(published, 2)
    assert not await vouch(published, ada, body)
    assert not await vouch(published, ben, other)
    assert not await vouch(published, ada, body)
    assert await refusal(send(published, ada, body)) == (410, "gone")
    assert await vouch(published, cleo, body)
    assert await refusal(published.api.checkpoint(published.run, OPERATOR)) == (
        404,
        "unknown-resource",
    )
    assert await refusal(send(published, cleo, other)) == (422, "wrong-body")
    await send(published, cleo, body)
    assert not await vouch(published, cleo, body)
    offer = await published.api.checkpoint(published.run, published.server.token(ben))
    assert (offer.round, offer.epoch, offer.lineage) == (1, 1, "a1" * 32)
    assert (offer.sha256, offer.size) == (sha256_of(body), len(body))
    assert [one.certificate for one in offer.signed] == [
        certificate(published, client) for client in (ada, cleo)
    ]
    found = await published.api.sealed_checkpoint(published.run, offer.sha256, OPERATOR)
    assert found == body


async def test_only_the_newest_is_kept(published: Bench):
    first, second = sealed(published, 1), sealed(published, 2)
    await offered(published, first, 1)
    await settle(published, 2)
    assert (await published.api.checkpoint(published.run, OPERATOR)).round == 1
    assert not await vouch(published, published.clients[0], second, round=2)
    assert (await published.api.checkpoint(published.run, OPERATOR)).round == 1
    await offered(published, second, 2)
    assert (await published.api.checkpoint(published.run, OPERATOR)).round == 2
    gone = published.api.sealed_checkpoint(published.run, sha256_of(first), OPERATOR)
    assert await refusal(gone) == (404, "unknown-resource")
    assert on_disk(published) == [f"checkpoint.2.1.{sha256_of(second)}.safetensors"]
    assert not await vouch(published, published.clients[0], first)


async def offered(bench: Bench, body: bytes, number: int, epoch: int = 1) -> None:
    wanted = [await vouch(bench, c, body, round=number, epoch=epoch) for c in bench.clients[:2]]
    assert wanted == [False, True]
    await send(bench, bench.clients[1], body, number)


async def test_sealed_anew_for_another_epoch_it_replaces_the_former(published: Bench):
    first, second = sealed(published, 1), sealed(published, 2)
    await offered(published, first, 1)
    await vouch(published, published.clients[0], second, epoch=2)
    assert (await refusal(published.api.checkpoint(published.run, OPERATOR)))[0] == 404
    assert await vouch(published, published.clients[1], second, epoch=2)
    await send(published, published.clients[1], second)
    offer = await published.api.checkpoint(published.run, OPERATOR)
    assert (offer.round, offer.epoch, offer.sha256) == (1, 2, sha256_of(second))
    assert len(on_disk(published)) == 1


async def test_it_survives_a_restart_and_is_not_swept(published: Bench):
    body = sealed(published, 1)
    await offered(published, body, 1)
    published.aggregator = published.aggregator.restarted()
    offer = await published.api.checkpoint(published.run, OPERATOR)
    assert await published.api.sealed_checkpoint(published.run, offer.sha256, OPERATOR) == body
    published.aggregator.close()


async def test_of_those_who_did_not_contribute_nothing_is_kept(opened: Bench):
    ada, ben, cleo = opened.clients
    await opened.contribute(1, ada, ben)
    opened.clock.advance(61)
    await opened.beat(*opened.clients)
    await opened.aggregator.tick()
    body = sealed(opened, 1)
    assert not await vouch(opened, ada, body)
    assert not await vouch(opened, cleo, body)
    assert await refusal(send(opened, cleo, body)) == (410, "gone")
    assert await vouch(opened, ben, body)


async def test_a_round_that_is_not_published_has_no_checkpoint(opened: Bench):
    vouching = vouch(opened, opened.clients[0], sealed(opened, 1))
    assert await refusal(vouching) == (409, "conflict")


@pytest.mark.parametrize(
    "changes",
    [
        {"run": "other"},
        {"document": "5e" * 32},
        {"round": 2},
        {"client": "ben"},
        {"size": 5},
    ],
    ids=lambda changes: next(iter(changes)),
)
async def test_a_statement_of_something_else_is_refused(published: Bench, changes):
    ada, body = published.clients[0], sealed(published, 1)
    signed = SignedCheckpoint(
        statement=statement(published, ada, body, **changes),
        certificate=certificate(published, ada),
    )
    assert await refusal(put(published, ada, signed)) == (422, "untrusted")


async def test_a_signature_or_certificate_of_somebody_else_is_refused(published: Bench):
    ada, ben, _ = published.clients
    body, stranger = sealed(published, 1), Client("ada")
    right, own = statement(published, ada, body), certificate(published, ada)
    for text, shown in (
        (statement(published, stranger, body), own),
        (right, certificate(published, stranger)),
        (right, certificate(published, ben)),
        (right, certificate(published, ada, key="other")),
        (right, sign(unverified(own, ClientCertificate), ada.signing)),
        (own, right),
    ):
        signed = SignedCheckpoint(statement=text, certificate=shown)
        assert await refusal(put(published, ada, signed)) == (422, "untrusted")
    assert not await put(published, ada, SignedCheckpoint(statement=right, certificate=own))


async def test_other_octets_under_the_right_digest_are_not_kept(published: Bench):
    ada, ben, _ = published.clients
    body, other = sealed(published, 1), sealed(published, 2)
    await vouch(published, ada, body)
    await vouch(published, ben, body)
    path = f"/v1/runs/{published.run}/rounds/1/sealed-checkpoints/ben"
    headers = {
        "Authorization": f"Bearer {published.server.token(ben)}",
        "Content-Type": "application/vnd.safetensors",
        "Content-Digest": content_digest(sha256_of(body)),
    }
    answer = await published.aggregator.http.put(path, content=other, headers=headers)
    assert answer.status_code == 422
    assert on_disk(published) == []
    await send(published, ben, body)
