"""What the aggregator tells its operator."""

import asyncio
from pathlib import Path

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.wire.aggregator import RoundReport


def read_rounds(address: str, ca_file: Path, token: str, run: str) -> tuple[RoundReport, ...]:
    async def ask() -> tuple[RoundReport, ...]:
        async with http_client(address, ca_file) as http:
            api = AggregatorApi(Connection(http, Patience(10.0)))
            return (await api.rounds(run, token)).rounds

    return asyncio.run(ask())
