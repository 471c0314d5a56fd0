"""Threads for what clients ask for by the hundred, so that operators do not stand in their line;
and turns for long bodies."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from fedperm.errors import BusyError
from fedperm.ids import ClientName, RunName

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Turns:
    """How many bodies of one sender are under way at a time, and no more."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sending: Counter[tuple[RunName, ClientName]] = Counter()

    @contextmanager
    def of(self, sender: tuple[RunName, ClientName], what: str) -> Iterator[None]:
        if self._sending[sender] >= self._most:
            raise BusyError(f"{what} of this client is under way", "wait until it is done")
        self._sending[sender] += 1
        try:
            yield
        finally:
            self._sending[sender] -= 1
            if not self._sending[sender]:
                del self._sending[sender]


class Lane:
    def __init__(self, width: int) -> None:
        self._free = asyncio.Semaphore(width)

    async def run(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """In a thread, as soon as fewer than `width` of these are under way; in turn."""
        async with self._free:
            return await asyncio.to_thread(work, *args, **kwargs)
