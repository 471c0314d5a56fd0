"""A client that dies at any moment goes on where it was: nothing twice, nothing lost.

Every start of a client draws other random numbers (see `federation`), so noise that is drawn again
for one round shows as a second body for that round.
"""

import pytest

from fedperm.errors import LedgerError, UnreachableError
from fedperm.wire.aggregator import RoundState
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import Home, drive

pytestmark = pytest.mark.anyio

UPLOAD = request_of("PUT", "/rounds/1/updates/ada")
OUTCOME = request_of("GET", "/v1/runs/demo/rounds/1")
AGGREGATE = request_of("GET", "/rounds/1/aggregate")
REPORT = request_of("PUT", "/rounds/1/reports/ada")


async def until_cut(federation, client, *others) -> None:
    """Steps of all, until this client loses a request or an answer."""
    for _ in range(100):
        try:
            await client.step()
        except UnreachableError:
            return
        for other in others:
            await other.step()
        await federation.tick()
    raise AssertionError("the line was never cut")


def check_exactly_once(ada: Home, ben: Home) -> None:
    """Both rounds counted Ada once, from one body each, and she applied both once."""
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert [len(ada.uploads(number)) for number in (1, 2)] == [1, 1]
    assert ada.charges == 2
    assert [record.contributors for record in ben.summary.history] == [2, 2]


async def test_a_client_that_dies_at_every_request_counts_once(federation):
    """`after`: the server has done what was asked, and the client does not know."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_key_server.after += [request_of("POST", "/clients"), request_of("POST", "/releases")]
    ada.to_aggregator.before += [UPLOAD, OUTCOME, AGGREGATE, REPORT]
    ada.to_aggregator.after += [request_of("PUT", "/participants/ada"), UPLOAD, AGGREGATE]
    ada.to_aggregator.after.append(request_of("PUT", "/rounds/2/reports/ada"))
    with ben.client() as two:
        for _ in range(10):
            with ada.client() as one:
                await until_cut(federation, one, two)
        with ada.client() as one:
            await drive(federation, one, two)
    check_exactly_once(ada, ben)


async def prepared_upload(federation, ada: Home, two) -> bytes:
    """Ada dies when her first upload is on disk and charged, before any of it leaves."""
    ada.to_aggregator.before.append(UPLOAD)
    with ada.client() as one:
        await until_cut(federation, one, two)
    (kept,) = (ada.run_folder / "outbox").iterdir()
    assert not ada.uploads(1)
    return kept.read_bytes()


async def test_a_crash_between_keeping_and_charging_is_charged_later(federation):
    """As the disk is then: the upload is there, the ledger knows nothing of it."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ledger = ada.state / "privacy-ledger.jsonl"
    with ben.client() as two:
        with ada.client() as one:
            await one.step()
        before = ledger.read_bytes()
        prepared = await prepared_upload(federation, ada, two)
        ledger.write_bytes(before)
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.uploads(1) == {prepared}
    check_exactly_once(ada, ben)


async def test_a_crash_before_keeping_draws_anew_since_nothing_left(federation):
    """As the disk is then: a torn file at most, and no charge."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ledger = ada.state / "privacy-ledger.jsonl"
    with ben.client() as two:
        with ada.client() as one:
            await one.step()
        before = ledger.read_bytes()
        prepared = await prepared_upload(federation, ada, two)
        ledger.write_bytes(before)
        (kept,) = (ada.run_folder / "outbox").iterdir()
        kept.rename(kept.with_name(kept.name + ".new"))
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.uploads(1).isdisjoint({prepared})
    check_exactly_once(ada, ben)


async def test_fresh_noise_for_a_charged_round_never_leaves(federation):
    """The prepared upload is lost, the charge is not: no other upload can take its place."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        await prepared_upload(federation, ada, two)
        (kept,) = (ada.run_folder / "outbox").iterdir()
        kept.unlink()
        for _ in range(2):
            with ada.client() as one, pytest.raises(LedgerError, match="for another upload"):
                await drive(federation, one)
    assert not ada.uploads(1)


async def test_what_a_crash_after_applying_left_in_the_outbox_is_swept(federation):
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        await prepared_upload(federation, ada, two)
        (kept,) = (ada.run_folder / "outbox").iterdir()
        upload = kept.read_bytes()
        ada.to_aggregator.before.append(REPORT)
        with ada.client() as one:
            await until_cut(federation, one, two)
        kept.write_bytes(upload)
        with ada.client() as one:
            await drive(federation, one, two)
    assert not list((ada.run_folder / "outbox").iterdir())
    assert ada.uploads(1) == {upload}


async def test_a_client_that_lost_its_model_replays_what_it_took_part_in(federation):
    """Its uploads are gone too; the ledger knows that it sent them, and none is sent twice."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        with ada.client() as one:
            await drive(federation, one, two, rounds=1)
        (ada.run_folder / "checkpoint.safetensors").unlink()
        with ada.client() as one:
            await drive(federation, one, two)
    check_exactly_once(ada, ben)
    assert [record.round for record in ada.summary.history] == [1, 2]


async def test_a_client_without_its_state_enrols_anew_and_catches_up(federation, clock):
    """The round that still waits for the lost client is aborted, and goes on without it."""
    await federation.start_lines(rounds=rounds(count=3, extensions=0))
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        with ada.client() as one:
            await drive(federation, one, two, rounds=1)
        clock.advance(61)
        (reborn,) = await federation.line_homes("ada-again")
        with reborn.client() as three:
            await drive(federation, two, three)
    assert reborn.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert reborn.charges == 1
    assert [record.state for record in ben.summary.history] == [
        RoundState.PUBLISHED,
        RoundState.ABORTED,
        RoundState.PUBLISHED,
    ]


async def test_an_update_that_the_last_release_prepared_is_sent_by_this_one(federation):
    """Its file has the name of a time when there were updates only."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        prepared = await prepared_upload(federation, ada, two)
        (kept,) = (ada.run_folder / "outbox").iterdir()
        kept.rename(kept.with_name("round-1-epoch-1.prepared"))
        (ada.state / "layout").unlink()
        with ada.client() as one:
            await drive(federation, one, two)
    assert ada.uploads(1) == {prepared}
    check_exactly_once(ada, ben)
