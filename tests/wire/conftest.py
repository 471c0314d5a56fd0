"""Every test that asks for a `message` runs for each kind of it."""

import pytest

from tests.wire.small_messages import (
    Message,
    aggregate_message,
    public_key_message,
    update_message,
)


@pytest.fixture(
    scope="session",
    params=[public_key_message, update_message, aggregate_message],
    ids=["public_key", "update", "aggregate"],
)
def message(request: pytest.FixtureRequest) -> Message:
    return request.param()
