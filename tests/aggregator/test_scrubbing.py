"""After a round nothing of what clients sent is left."""

import pytest

from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio


def files_with(bench: Bench, needle: bytes) -> int:
    """Files of the aggregator that hold these octets: uploads, database, journal of it."""
    found = [p for p in bench.aggregator.settings.state_directory.rglob("*") if p.is_file()]
    assert any(path.name == "aggregator.db" for path in found)
    return sum(needle in path.read_bytes() for path in found)


def traces(bench: Bench, number: int) -> list[int]:
    """For every upload: where its shuffled values are found, and where its first mask is."""
    found = []
    for (sent_in, _), prepared in bench.sent.items():
        if sent_in == number:
            mask = prepared.body[-64:]
            found += [files_with(bench, prepared.shuffled.tobytes()), files_with(bench, mask)]
    return found


async def test_uploads_are_destroyed_when_the_round_is_published(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    assert traces(opened, 1) == [1] * 6
    await opened.aggregator.tick()
    assert traces(opened, 1) == [0] * 6
    await opened.api.aggregate(opened.run, 1, OPERATOR)


async def test_uploads_are_destroyed_when_the_round_is_aborted(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    opened.clock.advance(60)
    await opened.aggregator.tick()
    assert traces(opened, 1) == [1, 1]
    opened.clock.advance(20)
    await opened.aggregator.tick()
    assert traces(opened, 1) == [0, 0]
