"""An aggregator, a key server with two epochs' keys, and three clients."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from fedperm_secret.keys import SecretKey, generate_key
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock


@pytest.fixture(scope="session")
def other_key() -> SecretKey:
    """The key of the second epoch."""
    return generate_key(Random(8), 512, insecure_for_tests=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(clock: ManualClock, small_key: SecretKey, other_key: SecretKey) -> KeyServer:
    return KeyServer(clock, {1: small_key, 2: other_key})


@pytest.fixture
def aggregator(tmp_path: Path, clock: ManualClock) -> Iterator[Aggregator]:
    aggregator = Aggregator(tmp_path, clock)
    yield aggregator
    aggregator.close()


@pytest.fixture
def bench(aggregator: Aggregator, server: KeyServer, randomness: Random) -> Bench:
    return Bench(aggregator, server, randomness)


@pytest.fixture
def clients() -> list[Client]:
    return [Client(name) for name in ("ada", "ben", "cleo")]


@pytest.fixture
async def opened(bench: Bench, clients: list[Client]) -> Bench:
    """Round 1 is open and asks all three clients."""
    await bench.create()
    await bench.join(*clients)
    await bench.aggregator.tick()
    return bench
