"""A client in this process that takes part over real HTTP and whose secrets are known.

The others draw their patterns from the operating system and keep them nowhere: there is no seed
to search for. So one client's generator writes down what it shuffles; it too is the operating
system's. Its lines remember every request, and with them the access tokens.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from typing import Any

import httpx

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.clock import SystemClock
from fedperm_client.environment import environment
from fedperm_client.participant import Participant
from fedperm_client.peers import Peers
from fedperm_client.settings import ClientSettings
from tests.client.cut_line import CutLine

PATIENCE = Patience(10.0)
ENDING_SECONDS = 30.0


class TellingRandom(SystemRandom):
    """Remembers its permutations."""

    def __init__(self) -> None:
        super().__init__()
        self.shuffled: list[list[int]] = []

    def shuffle(self, x: Any) -> None:
        super().shuffle(x)
        if len(x) > 8:  # a pattern; the shortest are found anywhere
            self.shuffled.append(list(x))


class KnownClient:
    def __init__(self, keyserver_url: str, aggregator_url: str, settings: ClientSettings) -> None:
        self.settings = settings
        self.randomness = TellingRandom()
        self._urls = keyserver_url, aggregator_url
        self._lines: list[CutLine] = []
        self._loop = asyncio.new_event_loop()

    @property
    def state(self) -> Path:
        return self.settings.state_directory

    @property
    def tokens_for_the_key_server(self) -> set[str]:
        return _tokens(self._lines[0])

    @property
    def tokens_for_the_aggregator(self) -> set[str]:
        return _tokens(self._lines[1])

    @contextmanager
    def running(self) -> Iterator["KnownClient"]:
        """In a thread, until the block is left."""
        work = self._loop.create_task(self._take_part())
        thread = threading.Thread(
            target=self._loop.run_until_complete, args=(_ended(work),), daemon=True
        )
        thread.start()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(work.cancel)
            thread.join(ENDING_SECONDS)
            assert not thread.is_alive(), "the client does not end"
            self._loop.close()

    async def _take_part(self) -> None:
        inner = [httpx.AsyncHTTPTransport() for _ in self._urls]
        self._lines = [CutLine(transport) for transport in inner]
        key_server, aggregator = (
            Connection(http_client(url, transport=line), PATIENCE)
            for url, line in zip(self._urls, self._lines, strict=True)
        )
        peers = Peers(KeyServerApi(key_server), AggregatorApi(aggregator))
        try:
            with environment(self.settings, peers, SystemClock(), self.randomness, 1.0) as given:
                await Participant(given, PATIENCE).run()
        finally:
            for transport in inner:
                await transport.aclose()


def _tokens(line: CutLine) -> set[str]:
    headers = [request.headers.get("Authorization", "") for request in line.requests]
    return {header.removeprefix("Bearer ") for header in headers if header}


async def _ended(work: "asyncio.Task[None]") -> None:
    with suppress(asyncio.CancelledError):
        await work
