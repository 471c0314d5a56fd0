"""The two servers that a client talks to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import fedperm
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.health import ServerVersion
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import UntrustedError
from fedperm.protocol import PROTOCOL, upgrade_hint
from fedperm.services import AGGREGATOR, CLIENT, KEY_SERVER, ServiceSpec
from fedperm_client.errors import VersionError

_HICCUP = Patience(seconds=0.5)
"""Waited out in silence; what takes longer is for the participant to tell and to wait for."""


@dataclass(frozen=True)
class Peers:
    key_server: KeyServerApi
    aggregator: AggregatorApi

    async def check_key_server(self) -> None:
        _check(KEY_SERVER, await self.key_server.version())

    async def check_aggregator(self) -> None:
        _check(AGGREGATOR, await self.aggregator.version())


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


def _check(expected: ServiceSpec, told: ServerVersion) -> None:
    """It speaks what this client speaks, and is the server that it should be."""
    # first the protocol: under fedperm/1 the key server gave itself another name
    if told.protocol != PROTOCOL:
        raise VersionError(
            f"the {expected.title} speaks {told.protocol} (version {told.version}), this client "
            f"{PROTOCOL} (version {fedperm.__version__})",
            upgrade_hint(told.protocol, them=f"the {expected.title}", us="this client"),
        )
    if told.service != expected.name:
        raise UntrustedError(
            f"what should be the {expected.title} is the {told.service}",
            f"correct {CLIENT.env_prefix}{expected.name.upper()}_URL",
        )
