"""An aggregator, a key server with two epochs' keys, and three clients."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from tests.aggregator.bench import Aggregator, Bench, quick_folder
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


@pytest.fixture(scope="session")
def signing() -> Ed25519PrivateKey:
    """The key server's."""
    return Ed25519PrivateKey.generate()


@pytest.fixture(scope="session")
def clients() -> list[Client]:
    return [Client(name) for name in ("ada", "ben", "cleo")]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def server(
    clock: ManualClock, small_key: SecretKey, other_key: SecretKey, signing: Ed25519PrivateKey
) -> KeyServer:
    return KeyServer(clock, {1: small_key, 2: other_key}, signing=signing)


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def aggregator(folder: Path, clock: ManualClock) -> Iterator[Aggregator]:
    aggregator = Aggregator(folder, clock)
    yield aggregator
    aggregator.close()


@pytest.fixture
def bench(
    aggregator: Aggregator, server: KeyServer, randomness: Random, clients: list[Client]
) -> Bench:
    return Bench(aggregator, server, randomness, clients)


@pytest.fixture(scope="session")
def opened_state(
    small_key: SecretKey, signing: Ed25519PrivateKey, clients: list[Client]
) -> Iterator[Path]:
    """The state of an aggregator that has opened a round: made once, copied for every test."""
    clock = ManualClock()
    server = KeyServer(clock, {1: small_key}, signing=signing)
    with quick_folder() as folder:
        aggregator = Aggregator(folder, clock)
        asyncio.run(open_round(Bench(aggregator, server, Random(4), clients)))
        aggregator.close()
        yield aggregator.settings.state_directory


async def open_round(bench: Bench) -> None:
    await bench.create()
    await bench.join(*bench.clients)
    await bench.aggregator.tick()


@pytest.fixture
def opened(
    opened_state: Path,
    folder: Path,
    clock: ManualClock,
    server: KeyServer,
    randomness: Random,
    clients: list[Client],
) -> Iterator[Bench]:
    """Round 1 is open and asks all three clients."""
    shutil.copytree(opened_state, folder / "state")
    aggregator = Aggregator(folder, clock)
    aggregator.services.background.start()
    yield Bench(aggregator, server, randomness, clients)
    aggregator.close()


@pytest.fixture(scope="module")
async def standing(
    small_key: SecretKey, other_key: SecretKey, clients: list[Client]
) -> AsyncIterator[Bench]:
    """Like `opened`, for tests that change nothing: several share it, and in the end the round
    must be as if they had not been."""
    clock = ManualClock()
    server = KeyServer(clock, {1: small_key, 2: other_key})
    with quick_folder() as folder:
        bench = Bench(Aggregator(folder, clock), server, Random(5), clients)
        await open_round(bench)
        yield bench
        assert files(bench) == []
        await finish(bench, clients)
        bench.aggregator.close()
