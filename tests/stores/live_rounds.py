"""Waiting for what a real aggregator does in its own time."""

import asyncio
from collections.abc import Awaitable, Callable

from fedperm.wire.aggregator import RoundState
from tests.aggregator.bench import Bench
from tests.stores.processes import PATIENCE_SECONDS


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await done():
            await asyncio.sleep(0.05)


async def open_round(bench: Bench) -> None:
    await bench.create(rounds={"count": 1, "deadline_seconds": 600.0})
    await bench.join(*bench.clients)

    async def is_open() -> bool:
        return bool(await bench.asked(bench.clients, settled=0))

    await until(is_open)


async def until_published(bench: Bench) -> None:
    async def is_published() -> bool:
        return await bench.state(1) is RoundState.PUBLISHED

    await until(is_published)


async def until_ready(bench: Bench) -> None:
    async def is_ready() -> bool:
        return (await bench.aggregator.http.get("/readyz")).status_code == 200

    await until(is_ready)
