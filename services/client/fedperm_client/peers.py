"""The two servers that a client talks to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi

_HICCUP = Patience(seconds=0.5)
"""Waited out in silence; what takes longer is for the participant to tell and to wait for."""


@dataclass(frozen=True)
class Peers:
    key_server: KeyServerApi
    aggregator: AggregatorApi


@asynccontextmanager
async def connect(
    keyserver_url: str, aggregator_url: str, ca_file: Path | None
) -> AsyncIterator[Peers]:
    async with (
        http_client(keyserver_url, ca_file) as key_server,
        http_client(aggregator_url, ca_file) as aggregator,
    ):
        yield Peers(
            KeyServerApi(Connection(key_server, _HICCUP)),
            AggregatorApi(Connection(aggregator, _HICCUP)),
        )
