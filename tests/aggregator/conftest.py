"""An aggregator, a key server with two epochs' keys, and three clients."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from fedperm_secret.keys import SecretKey, generate_key
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock
from tests.aggregator.uploading import files, finish


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """As for all tests; `standing` lives as long as a module."""
    return "asyncio"


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
def clients(bench: Bench) -> list[Client]:
    return bench.clients


@pytest.fixture
async def opened(bench: Bench, clients: list[Client]) -> Bench:
    """Round 1 is open and asks all three clients."""
    await bench.create()
    await bench.join(*clients)
    await bench.aggregator.tick()
    return bench


@pytest.fixture(scope="module")
async def standing(
    tmp_path_factory: pytest.TempPathFactory, small_key: SecretKey, other_key: SecretKey
) -> AsyncIterator[Bench]:
    """Like `opened`, for tests that change nothing: several share it, and in the end the round
    must be as if they had not been."""
    clock = ManualClock()
    server = KeyServer(clock, {1: small_key, 2: other_key})
    aggregator = Aggregator(tmp_path_factory.mktemp("standing"), clock)
    bench = Bench(aggregator, server, Random(5))
    await bench.create()
    await bench.join(*bench.clients)
    await aggregator.tick()
    yield bench
    assert files(bench) == []
    await finish(bench, bench.clients)
    aggregator.close()
