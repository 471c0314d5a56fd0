"""Looks at a run that many share."""

import asyncio
from itertools import pairwise

import pytest

from fedperm.errors import BusyError
from fedperm.wire.aggregator import RunState, TaskKind
from fedperm_aggregator.long_poll import AT_ONCE, SharedLook
from fedperm_aggregator.records import Progress
from tests.aggregator.bench import Bench
from tests.aggregator.parties import Client

pytestmark = pytest.mark.anyio


class SlowRun:
    """Each look takes until the test says so, and sees the number of the moment it began."""

    def __init__(self) -> None:
        self.settled = 0
        self.looks: list[asyncio.Future[None]] = []

    async def look(self) -> Progress:
        seen = self.settled
        self.looks.append(asyncio.get_running_loop().create_future())
        await self.looks[-1]
        return Progress(RunState.RUNNING, seen)


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_whoever_asks_during_a_look_shares_the_next_which_sees_more():
    run = SlowRun()
    look = SharedLook(run.look)
    first = asyncio.create_task(look())
    await turns()
    run.settled = 1  # after the first look began
    later = [asyncio.create_task(look()) for _ in range(3)]
    await turns()
    assert len(run.looks) == 1
    run.looks[0].set_result(None)
    await turns()
    assert len(run.looks) == 2
    assert (first.done(), look.newest.settled) == (True, 0)
    run.looks[1].set_result(None)
    await asyncio.gather(*later)
    assert look.newest.settled == 1
    assert len(run.looks) == 2


async def test_a_look_that_fails_does_so_for_those_who_share_it_only():
    run = SlowRun()
    look = SharedLook(run.look)
    asked = [asyncio.create_task(look()) for _ in range(2)]
    await turns()
    run.looks[0].set_exception(BusyError("locked", "wait"))
    for one in asked:
        with pytest.raises(BusyError):
            await one
    again = asyncio.create_task(look())
    await turns()
    run.looks[1].set_result(None)
    await again


async def test_whoever_leaves_does_not_end_the_look_of_others():
    run = SlowRun()
    look = SharedLook(run.look)
    leaving, staying = (asyncio.create_task(look()) for _ in range(2))
    await turns()
    leaving.cancel()
    await turns()
    run.looks[0].set_result(None)
    await staying


async def test_many_are_told_a_few_at_a_time():
    """Between two turns of the loop: others have theirs."""
    run = SlowRun()
    look = SharedLook(run.look)
    asked = [asyncio.create_task(look()) for _ in range(10 * AT_ONCE)]
    await turns()
    run.looks[0].set_result(None)
    told = [0]
    while told[-1] < len(asked):
        await asyncio.sleep(0)
        told.append(sum(one.done() for one in asked))
    assert max(after - before for before, after in pairwise(told)) <= AT_ONCE


async def test_a_client_whose_upload_was_acknowledged_is_never_asked_again(
    opened: Bench, clients: list[Client]
):
    """While others wait, so that there is a lookout, and whatever it saw before."""
    ada, ben, _cleo = clients
    token = opened.server.token(ada)
    await opened.contribute(1, ada)
    for _ in range(20):
        held = asyncio.create_task(opened.api.next_task(opened.run, "ada", 0, 5.0, token))
        task = await opened.task(ben)
        assert task.kind == TaskKind.TRAIN
        newer = await opened.task(ada)
        assert (newer.kind, (await held).kind) == (TaskKind.WAIT, TaskKind.WAIT)
