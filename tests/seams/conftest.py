"""Key server and aggregator in this process, as the client's tests have them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.federation import Federation
from tests.keyserver.server import MovingClock


@pytest.fixture
def federation(tmp_path: Path) -> Iterator[Federation]:
    federation = Federation(tmp_path, MovingClock())
    yield federation
    federation.close()
