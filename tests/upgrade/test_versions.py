"""What a program says of what another version wrote: docs/protocol.md, "Versions"."""

from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import column, table

from fedperm.database import open_database, sqlite_url
from fedperm.protocol import FIRST_PROTOCOL, PROTOCOL
from fedperm.schema import VERSION_COLUMN, Schema
from fedperm.services import SERVICES
from fedperm_cli.federation.folder import make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes
from fedperm_client.errors import StateError
from tests.aggregator.bench import Aggregator
from tests.aggregator.parties import OPERATOR, ManualClock
from tests.client.federation import Federation
from tests.keyserver.server import MovingClock
from tests.upgrade.ending import unpack

PROTOCOL_PAGE = Path(__file__).parents[2] / "docs/protocol.md"
VERSIONS = PROTOCOL_PAGE.read_text().partition("\n## Versions\n")[2]


@pytest.fixture
def aggregator(tmp_path):
    """Today's, with the runs that fedperm/1 left."""
    unpack(tmp_path)
    (tmp_path / "aggregator").rename(tmp_path / "state")
    aggregator = Aggregator(tmp_path, ManualClock())
    yield aggregator
    aggregator.close()


async def put_document(aggregator, run, octets):
    headers = {"Authorization": f"Bearer {OPERATOR}", "Content-Type": "application/json"}
    return await aggregator.http.put(f"/v1/runs/{run}", content=octets, headers=headers)


@pytest.mark.anyio
async def test_a_run_of_the_first_version_is_still_the_same_run(aggregator):
    document = await aggregator.api.document("demo", OPERATOR)
    assert document.content.protocol == FIRST_PROTOCOL
    assert (await put_document(aggregator, "demo", document.octets)).status_code == 200


@pytest.mark.anyio
@pytest.mark.parametrize("run", ["demo", "another"])
async def test_a_new_document_of_the_first_version_is_refused(aggregator, run):
    """Neither under a new name nor in the place of a stored one."""
    document = await aggregator.api.document("demo", OPERATOR)
    octets = document.octets.replace(b'"demo"', f'"{run}"'.encode()) + b"\n"
    refused = await put_document(aggregator, run, octets)
    assert refused.status_code == 422
    problem = refused.json()
    assert problem["type"] == "urn:fedperm:problem:wrong-parameters"
    assert problem["detail"] == f"the document is of {FIRST_PROTOCOL}; new runs are of {PROTOCOL}"
    assert problem["detail"] in VERSIONS
    assert problem["hint"] == "create the run with a command of this aggregator's version"


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
def test_a_server_does_not_start_on_a_database_of_a_newer_one(tmp_path, service):
    folder = make_folder(tmp_path)
    state = folder.state(service.name)
    state.mkdir()
    schema: Schema = import_module(f"{service.module}.migrations").SCHEMA
    url = sqlite_url(state / f"{service.name}.db")
    database = open_database(url, schema)
    with database.engine.begin() as connection:
        recorded = table(schema.version_table, column(VERSION_COLUMN))
        connection.execute(recorded.update().values({VERSION_COLUMN: "9999"}))
    database.close()
    before = (state / f"{service.name}.db").read_bytes()
    with Processes(folder.logs) as processes:
        server = Launcher(folder, processes).start_server(service)
        assert server.wait(30) == 2
    said = server.log.read_text()
    assert (
        f"the database has version 9999 of the {service.name}'s tables; this program knows them up "
        f"to {schema.newest}"
    ) in said
    assert "start the program that made it, or a newer one" in said
    assert (state / f"{service.name}.db").read_bytes() == before


@pytest.mark.anyio
async def test_a_client_does_not_start_on_the_state_of_a_newer_one(tmp_path):
    """It would not find what was prepared, and draw noise a second time."""
    federation = Federation(tmp_path, MovingClock())
    await federation.create_key()
    home = await federation.home("ada")
    with home.client() as client:
        await client.step()
    (home.state / "layout").write_text("3\n")
    with (
        pytest.raises(StateError, match=r"has layout 3, and this client knows layouts up to 2"),
        home.client(),
    ):
        pass
    federation.close()
