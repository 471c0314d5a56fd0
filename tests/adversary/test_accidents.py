"""Nobody attacks: something breaks, answers are lost, somebody is slow."""

import asyncio

import pytest

from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import Client
from tests.aggregator.test_slow_uploads import dripping, until_received
from tests.aggregator.uploading import headers, put
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import Federation, drive

pytestmark = pytest.mark.anyio


async def test_blocked_losing_an_acknowledged_update_in_a_crash(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    before = opened.aggregator
    opened.aggregator = before.restarted()
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    opened.aggregator.close()
    opened.aggregator = before


async def test_blocked_doubling_an_update_by_a_retry(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    for client in clients:
        await opened.upload(client, 1, opened.sent[1, client.name])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_blocked_drawing_noise_twice_when_an_answer_is_lost(federation: Federation):
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.after.append(request_of("PUT", "/rounds/1/updates/ada"))
    with ben.client() as two:
        with ada.client() as one, pytest.raises(Exception, match="cut before the answer"):
            await drive(federation, one, two)
        with ada.client() as one:
            await drive(federation, one, two)
    assert len(ada.uploads(1)) == 1
    assert (ada.charges, ada.summary.rounds_included) == (1, 1)


async def test_blocked_holding_a_round_up_by_being_slow(opened: Bench, clients: list[Client]):
    """At the deadline it goes on with those who have come."""
    slow, *others = clients
    go_on, prepared = asyncio.Event(), opened.prepare(slow, 1)
    body = dripping(prepared.body, go_on)
    sending = asyncio.create_task(put(opened, slow, headers(opened, slow, prepared), body))
    await until_received(opened, 1)
    await opened.contribute(1, *others)
    opened.clock.advance(60)
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ben", "cleo")
    go_on.set()
    assert (await sending).status_code == 410
