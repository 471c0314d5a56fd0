"""What the aggregator tells its operator."""

import asyncio
from dataclasses import dataclass

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Request
from fedperm.ids import RunName
from fedperm.wire.aggregator import RoundReport
from fedperm_cli.servers.sessions import Server


@dataclass(frozen=True)
class Told:
    """`metrics` is Prometheus' text."""

    rounds: tuple[RoundReport, ...]
    metrics: str


def ask(server: Server, token: str, run: RunName) -> Told:
    async def answer() -> Told:
        async with server.connection() as connection:
            listed = await AggregatorApi(connection).rounds(run, token)
            metrics = await connection.send(Request("GET", "/metrics"))
            return Told(listed.rounds, metrics.content.decode())

    return asyncio.run(answer())
