"""Threads for what clients ask for by the hundred, so that operators do not stand in their line."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Lane:
    def __init__(self, width: int) -> None:
        self._free = asyncio.Semaphore(width)

    async def run(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """In a thread, as soon as fewer than `width` of these are under way; in turn."""
        async with self._free:
            return await asyncio.to_thread(work, *args, **kwargs)
