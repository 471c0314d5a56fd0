"""Clients that join late start from a checkpoint that others vouch for, and ask for no old keys."""

import json

import pytest

from fedperm.errors import UnreachableError
from fedperm.wire.aggregator import RoundState
from fedperm_client.model_store import ModelStore
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import KEY, Federation, Home, drive, settled
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

pytestmark = pytest.mark.anyio

OFFER = request_of("GET", "/checkpoint")


def released(home: Home) -> set[int]:
    """Epochs whose secret keys the client has asked for."""
    asked = home.to_key_server.sent(request_of("POST", "/releases"))
    return {int(request.url.path.split("/")[-2]) for request in asked}


async def steps(federation: Federation, *clients, count: int = 1) -> None:
    for _ in range(count):
        for client in clients:
            await client.step()
        await federation.tick()


async def rotate(federation: Federation, *, carried: bool) -> None:
    await federation.key_server.api.create_epoch(KEY, 2, KEY_OPERATOR)
    if carried:
        await federation.put_epoch(2)


async def test_enrolled_after_a_rotation_a_client_starts_without_old_keys(federation):
    """It ends with the same model as the others, bit by bit, and never asks for epoch 1."""
    await federation.start_lines(rounds=rounds(count=6, clients_per_round=3))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=2)
        await rotate(federation, carried=True)
        await drive(federation, one, two, rounds=4)
        await steps(federation, one, two, count=2)
        (cleo,) = await federation.line_homes("cleo")
        with cleo.client() as three:
            await drive(federation, one, two, three)
    homes = (ada, ben, cleo)
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
    assert released(cleo) == {2}
    assert cleo.summary.rounds == 6
    assert min(record.round for record in cleo.summary.history) == 5
    assert cleo.summary.rounds_included >= 1


async def test_a_client_that_is_needed_gets_in_although_the_last_round_was_under_an_old_key(
    federation,
):
    """One of three is revoked and another comes in its place. The others hear of the new epoch when
    they are asked for the next round, and seal the model anew; without that, nobody could go on."""
    await federation.start_lines(
        rounds=rounds(count=8, clients_per_round=3, min_contributors=3, start_with=3)
    )
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, ben.client() as two:
        with cleo.client() as three:
            await drive(federation, one, two, three, rounds=2)
            await steps(federation, one, two, three, count=2)
        await federation.key_server.api.revoke_client(KEY, "cleo", KEY_OPERATOR)
        await federation.aggregator.api.exclude("demo", "cleo", RUN_OPERATOR)
        (dora,) = await federation.line_homes("dora")

        def pass_time() -> None:
            federation.clock.advance(8.0)

        with dora.client() as four:
            await drive(federation, one, two, four, meanwhile=pass_time)
    assert len({home.summary.parameters_sha256 for home in (ada, ben, dora)}) == 1
    last = dora.summary.history[-1]
    assert (last.state, last.epoch, last.included) == (RoundState.PUBLISHED, 2, True)


async def test_without_a_checkpoint_a_client_says_what_is_missing_and_waits(federation, caplog):
    await federation.start_lines(rounds=rounds(count=3, clients_per_round=3))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
        await rotate(federation, carried=True)
        (cleo,) = await federation.line_homes("cleo")
        with cleo.client() as three:
            await steps(federation, three, count=5)
            assert settled(three) == 0
            said = [line for line in caplog.messages if "cannot be replayed" in line]
            assert len(said) == 1
            assert "does not release key epoch 1" in said[0]
            assert "waiting for a checkpoint under key epoch 2" in said[0]
            await drive(federation, one, two, three)
    assert cleo.summary.parameters_sha256 == ada.summary.parameters_sha256


async def test_where_nothing_is_offered_all_rounds_are_replayed(federation):
    """As with clients that do not vouch; the key server gives the keys."""
    await federation.start_lines(rounds=rounds(count=3, clients_per_round=3))
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    cleo.to_aggregator.refusals += [(OFFER, 404)] * 10
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=2)
        await steps(federation, one, two, count=2)
        with cleo.client() as three:
            await drive(federation, one, two, three)
    assert [record.round for record in cleo.summary.history] == [1, 2, 3]
    assert cleo.summary.parameters_sha256 == ada.summary.parameters_sha256


async def test_a_client_that_ends_between_the_round_and_its_signature_signs_when_it_is_back(
    federation,
):
    await federation.start_lines(rounds=rounds(count=3, clients_per_round=3))
    ada, ben, cleo = await federation.line_homes("ada", "ben", "cleo")
    with ben.client() as two:
        with ada.client() as one:
            await drive(federation, one, two, rounds=2)
        assert not ada.to_aggregator.sent(request_of("PUT", "/rounds/2/checkpoints/ada"))
        with ada.client() as one:
            await steps(federation, one, two, count=3)
            assert ada.to_aggregator.sent(request_of("PUT", "/rounds/2/checkpoints/ada"))
            with cleo.client() as three:
                await drive(federation, one, two, three)
    assert cleo.summary.parameters_sha256 == ada.summary.parameters_sha256
    assert 1 not in {record.round for record in cleo.summary.history}


async def test_a_signature_that_is_not_wanted_or_lost_does_not_stop_a_client(federation):
    await federation.start_lines(rounds=rounds(count=3))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.refusals.append((request_of("PUT", "/checkpoints/ada"), 403))
    ben.to_aggregator.before.append(request_of("PUT", "/checkpoints/ben"))
    with ada.client() as one, ben.client() as two:
        with pytest.raises(UnreachableError):
            await drive(federation, one, two)
        await drive(federation, one, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    (first, *_) = ben.to_aggregator.sent(request_of("PUT", "/checkpoints/ben"))
    assert first.url.path.endswith("/rounds/1/checkpoints/ben")


async def test_one_of_those_who_vouch_sends_the_octets(federation):
    await federation.start_lines(rounds=rounds(count=2))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    sealed = [
        request
        for home in (ada, ben)
        for request in home.to_aggregator.sent(lambda r: "/sealed-checkpoints/" in r.url.path)
    ]
    assert [request.url.path.split("/")[5] for request in sealed] == ["1", "2"]
    statements = [
        json.loads(request.content)
        for home in (ada, ben)
        for request in home.to_aggregator.sent(lambda r: "/checkpoints/" in r.url.path)
    ]
    assert len(statements) == 4


async def test_who_has_a_model_without_a_lineage_does_not_vouch(federation):
    """A client of an earlier version wrote it: nobody knows what was applied."""
    frozen = await federation.start_lines(rounds=rounds(count=2))
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
    store = ModelStore(ada.run_folder / "checkpoint.safetensors")
    kept = store.load(frozen.sha256, 2)
    assert kept.lineage.round == 1
    store.save(type(kept)(kept.parameters, kept.settled, kept.epoch, kept.document))
    before = len(vouching(ada))
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    assert len(vouching(ada)) == before
    assert vouching(ben)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


def vouching(home: Home) -> list:
    return home.to_aggregator.sent(lambda request: "/checkpoints/" in request.url.path)
