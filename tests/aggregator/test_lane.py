"""Clients in their own line."""

import asyncio
import threading

import pytest

from fedperm_aggregator.lane import Lane

pytestmark = pytest.mark.anyio


async def test_no_more_than_so_many_at_once_and_all_in_the_end():
    lane, go_on, at_work = Lane(2), threading.Event(), threading.Semaphore(0)

    def work(number: int) -> int:
        at_work.release()
        assert go_on.wait(20)
        return number

    asked = [asyncio.create_task(lane.run(work, number)) for number in range(6)]
    for _ in range(2):
        assert await asyncio.to_thread(at_work.acquire, timeout=20)
    assert not await asyncio.to_thread(at_work.acquire, timeout=0.1)  # a third
    go_on.set()
    assert await asyncio.gather(*asked) == list(range(6))


async def test_work_that_fails_leaves_its_place():
    lane = Lane(1)

    def fail() -> None:
        raise ValueError("no")

    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            await lane.run(fail)
    assert await asyncio.wait_for(lane.run(int, "7"), 20) == 7
