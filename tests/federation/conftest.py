"""Both servers in this process, as the client's tests have them."""

import pytest

from tests.client.federation import Federation
from tests.keyserver.server import MovingClock


@pytest.fixture
def clock() -> MovingClock:
    return MovingClock()


@pytest.fixture
def federation(tmp_path, clock) -> Federation:
    federation = Federation(tmp_path, clock)
    yield federation
    federation.close()
