"""Keys that many tests share, and a generator whose draws can be repeated."""

from random import Random

import hypothesis
import pytest

from fedperm.randomness import from_operating_system
from fedperm_secret.keys import SecretKey, generate_key

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
