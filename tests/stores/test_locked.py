"""A database that somebody else holds: 503, and all is there when it is given back."""

import asyncio

import pytest

from fedperm.submissions import UPDATE
from fedperm.wire.problem import MEDIA_TYPE
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR
from tests.keyserver.server import KEK
from tests.stores.live_rounds import open_round, until_published, until_ready
from tests.stores.processes import ServerProcess, locked

pytestmark = [pytest.mark.anyio, pytest.mark.system]

HEADERS = {"Authorization": f"Bearer {OPERATOR}"}


@pytest.fixture
async def start(tmp_path):
    started = []

    def start(program: str, **settings: str) -> ServerProcess:
        started.append(ServerProcess(program, tmp_path, OPERATOR, **settings))
        return started[-1]

    yield start
    for server in started:
        await server.end()


def check_busy(answer) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.headers["Content-Type"] == MEDIA_TYPE
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.json()["type"] == "urn:fedperm:problem:busy"


async def test_an_aggregator_waits_for_its_database(start, play):
    process = start("aggregator", processes="1")
    bench, http = play(process), process.http
    ada, ben, cleo = bench.clients
    await open_round(bench)
    await bench.contribute(1, ada)
    late = bench.prepare(ben, 1)
    headers = {"Authorization": f"Bearer {bench.server.token(ben)}"}
    with locked(process.database):
        upload = process.impatient.submit(
            UPDATE, bench.run, 1, "ben", late.body, late.manifest, bench.server.token(ben)
        )
        requests = [http.get(f"/v1/runs/{bench.run}/rounds/1", headers=headers) for _ in range(3)]
        answers = await asyncio.gather(
            http.get("/livez"), http.get("/readyz"), *requests, upload, return_exceptions=True
        )
        assert answers[0].status_code == 200
        for answer in answers[1:-1]:
            check_busy(answer)
        assert answers[-1].status == 503
    await bench.upload(ben, 1, late)  # at once, without a second attempt
    await bench.contribute(1, cleo)
    await until_published(bench)
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    await until_ready(bench)


async def test_a_key_server_waits_for_its_database(start):
    process = start("keyserver", key_encryption_key=KEK)
    http, key = process.http, {"scheme": {"parameters": {"key_bits": 512}}}
    assert (await http.put("/v1/keys/one", json=key, headers=HEADERS)).status_code == 201
    with locked(process.database):
        refused = await asyncio.gather(
            http.get("/readyz"),
            http.get("/v1/keys/one"),
            http.put("/v1/keys/two", json=key, headers=HEADERS),
        )
        for answer in refused:
            check_busy(answer)
    assert (await http.put("/v1/keys/two", json=key, headers=HEADERS)).status_code == 201
    audit = (await http.get("/v1/audit", headers=HEADERS)).json()["entries"]
    assert [entry["event"] for entry in audit].count("key-created") == 2
    assert (await http.get("/readyz")).status_code == 200
