"""Keys and databases that many tests share, and a generator whose draws can be repeated."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import hypothesis
import pytest

from fedperm.database import sqlite_url
from fedperm.randomness import from_operating_system
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from tests.storage.postgresql import PostgreSQL, running_postgresql

hypothesis.settings.register_profile("fedperm", deadline=None, max_examples=60)
hypothesis.settings.load_profile("fedperm")


@pytest.fixture
def anyio_backend() -> str:
    """Servers and clients run on asyncio."""
    return "asyncio"


@pytest.fixture
def randomness() -> Random:
    return Random(20230814)


@pytest.fixture(scope="session")
def small_key() -> SecretKey:
    """512 bits: the same code path as a real key, hundreds of times faster."""
    return generate_key(Random(7), 512, insecure_for_tests=True)


@pytest.fixture(scope="session")
def key_2048() -> SecretKey:
    return generate_key(from_operating_system(), 2048)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of an empty database: the test is run once on each kind."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "test.db")
    return request.getfixturevalue("postgresql").new_database()
