"""Every test that asks for a `message` runs for each kind of it."""

import pytest

from tests.wire.small_messages import (
    Message,
    aggregate_message,
    update_message,
)


@pytest.fixture(
    scope="session",
    params=[update_message, aggregate_message],
    ids=["update", "aggregate"],
)
def message(request: pytest.FixtureRequest) -> Message:
    return request.param()
