"""A whole federation whose servers keep what they know in PostgreSQL."""

import pytest

from fedperm.wire.aggregator import RunState
from tests.client.federation import Federation, drive

pytestmark = pytest.mark.anyio


@pytest.fixture
def federation(tmp_path, clock, postgresql) -> Federation:
    federation = Federation(tmp_path, clock, postgresql.new_database(), postgresql.new_database())
    yield federation
    federation.close()


async def test_clients_finish_a_run_with_identical_parameters(federation):
    await federation.start_lines()
    ada, ben = homes = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    assert {home.summary.state for home in homes} == {RunState.COMPLETED}
    assert {home.summary.rounds_included for home in homes} == {ada.summary.rounds} != {0}
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    for name in ("keyserver", "aggregator"):
        assert not list(federation.folder.rglob(f"{name}.db"))
