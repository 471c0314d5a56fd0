"""What the aggregator tells its operator."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, Request, http_client
from fedperm.wire.aggregator import RoundReport


@dataclass(frozen=True)
class Told:
    """`metrics` is Prometheus' text."""

    rounds: tuple[RoundReport, ...]
    metrics: str


def ask(address: str, ca_file: Path, token: str, run: str) -> Told:
    async def answer() -> Told:
        async with http_client(address, ca_file) as http:
            connection = Connection(http, Patience(10.0))
            listed = await AggregatorApi(connection).rounds(run, token)
            metrics = await connection.send(Request("GET", "/metrics"))
            return Told(listed.rounds, metrics.content.decode())

    return asyncio.run(answer())
