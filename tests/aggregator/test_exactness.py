"""The decrypted sum is the integer sum of the included clients' values after norm bounding."""

import numpy as np
import pytest

from fedperm.wire.aggregator import RunState, TaskKind
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client, decrypted

pytestmark = pytest.mark.anyio


async def test_a_whole_run_is_exact(opened: Bench, clients: list[Client]):
    for number in (1, 2):
        await opened.contribute(number, *clients)
        await opened.aggregator.tick()
        assert await check_sum(opened, number) == ("ada", "ben", "cleo")
    status = await opened.api.run(opened.run, OPERATOR)
    assert status.state is RunState.COMPLETED
    assert (await opened.task(clients[0], settled=2)).kind == TaskKind.FINISH


async def test_some_updates_are_bounded_and_some_are_not(opened: Bench, clients: list[Client]):
    """Else the exactness above would show nothing about bounding."""
    centre = np.full((3, 4), 127, np.uint8)
    for client, coded in zip(clients, (centre, centre * 2, centre - 127), strict=True):
        await opened.upload(client, 1, opened.prepare(client, 1, coded=coded))
    await opened.aggregator.tick()
    await check_sum(opened, 1)
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert [update.bounded for update in report.updates] == [False, True, True]
    assert report.updates[0].norm_before == report.updates[0].norm_after < 1.0
    for update in report.updates[1:]:
        assert update.norm_after <= 1.0 < update.norm_before


async def test_rounds_with_sampling_drop_outs_and_a_late_joiner_are_exact(bench: Bench):
    """3 of 5 clients a round, then of 6; one of those asked never answers."""
    clients = [Client(f"client-{i}") for i in range(6)]
    here = clients[:5]
    await bench.create(rounds={"count": 4, "start_with": 5})
    await bench.join(*here)
    groups = set()
    for number in range(1, 5):
        await bench.beat(*here)
        await bench.aggregator.tick()
        asked = await bench.asked(here, settled=number - 1)
        assert len(asked) == 3
        answering = asked[:2] if number % 2 else asked
        await bench.contribute(number, *answering)
        if number % 2:
            bench.clock.advance(61)
        await bench.aggregator.tick()
        assert await check_sum(bench, number) == tuple(c.name for c in answering)
        groups.add(tuple(c.name for c in asked))
        if number == 2:
            await bench.join(clients[5])
            here = clients
    assert len(groups) > 1
    late = [(await bench.task(clients[5], settled)).round for settled in range(4)]
    assert late == [1, 2, 3, 4]
    assert (await bench.task(clients[5], 4)).kind == TaskKind.FINISH


async def test_a_new_key_epoch_is_used_from_the_next_round_on(opened: Bench, clients: list[Client]):
    await opened.put_epoch(2)
    assert (await opened.task(clients[0])).epoch == 1
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    await check_sum(opened, 1, epoch=1)
    assert (await opened.task(clients[0], settled=1)).epoch == 2
    await opened.contribute(2, *clients, epoch=2)
    await opened.aggregator.tick()
    await check_sum(opened, 2, epoch=2)


async def test_a_run_without_a_norm_bound_adds_what_was_sent(bench: Bench, clients: list[Client]):
    await bench.create(norm_bound=None)
    await bench.join(*clients)
    await bench.aggregator.tick()
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    body = await bench.api.aggregate(bench.run, 1, OPERATOR)
    expected = sum(bench.sent[1, c.name].coded.astype(np.int64) for c in clients)
    assert np.array_equal(decrypted(body, bench.document.content, bench.pair()), expected)
    report = await bench.api.round_report(bench.run, 1, OPERATOR)
    assert {update.norm_before for update in report.updates} == {None}
