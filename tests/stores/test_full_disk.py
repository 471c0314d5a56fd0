"""A disk that is really full: 507, nothing acknowledged, nothing lost, and on it goes with room.

The aggregator's state lies on a file system of a few megabytes that the tests fill up.
"""

import asyncio
from contextlib import ExitStack

import pytest

from fedperm.errors import RefusedError
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundState
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR
from tests.stores.live_rounds import open_round, until, until_published, until_ready
from tests.stores.processes import ServerProcess, tiny_disk

pytestmark = [pytest.mark.anyio, pytest.mark.system]

DISK = 8 << 20
PAGE = 4096
LONGER_THAN_FIVE_ATTEMPTS = 8.0
"""Seconds: so often a job is tried that fails for a reason of its own."""


@pytest.fixture
def disk(tmp_path):
    return tiny_disk(DISK, tmp_path)


@pytest.fixture
async def process(disk, tmp_path):
    prefix = disk.prefix(tmp_path / "state")
    process = ServerProcess("aggregator", tmp_path, OPERATOR, prefix, processes="1")
    yield process
    await process.end()


async def test_what_finds_no_room_is_not_acknowledged_and_what_was_is_kept(process, disk, play):
    bench = play(process)
    ada, ben, cleo = bench.clients
    await open_round(bench)
    await bench.contribute(1, ada)
    uploads = disk.seen(process) / "runs" / bench.run / "rounds" / "1" / "uploads"

    update = bench.prepare(ben, 1)
    with disk.full(process):
        await check_refused(bench, ben, update)
    with disk.full(process, octets_left=len(update.body) + PAGE):
        await check_refused(bench, ben, update)  # there is room for it, but not for its row
        assert not list(uploads.glob("ben.*"))
        assert not list((disk.seen(process) / "incoming").iterdir())
    await bench.upload(ben, 1, update)

    await until_checked(bench, ben)
    with ExitStack() as until_full:
        until_full.enter_context(process.workers_stopped())
        await bench.contribute(1, cleo)
        with disk.full(process):
            until_full.close()
            await check_nothing_is_given_up(bench)
    await until_published(bench)
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    await until_ready(bench)


async def until_checked(bench, client) -> None:
    async def is_checked() -> bool:
        return (
            await bench.api.submission(UPDATE, bench.run, 1, client.name, OPERATOR)
        ).state == "valid"

    await until(is_checked)


async def check_refused(bench, client, update) -> None:
    token = bench.server.token(client)
    with pytest.raises(RefusedError) as refused:
        await bench.aggregator.impatient.submit(
            UPDATE, bench.run, 1, client.name, update.body, update.manifest, token
        )
    assert (refused.value.status, refused.value.kind) == (507, "storage-full")
    reports = (await bench.api.round_report(bench.run, 1, OPERATOR)).updates
    assert client.name not in [report.client for report in reports]


async def check_nothing_is_given_up(bench) -> None:
    """All updates are acknowledged, and the sum cannot be written: for longer than any job that
    fails by itself is tried."""

    async def says_so() -> bool:
        return (await bench.aggregator.http.get("/readyz")).status_code == 503

    await until(says_so)
    await asyncio.sleep(LONGER_THAN_FIVE_ATTEMPTS)
    assert await bench.state(1) in {RoundState.OPEN, RoundState.SEALED}
    assert await says_so()
