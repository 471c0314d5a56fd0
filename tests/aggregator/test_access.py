"""Every endpoint, tried with every credential: each cell of the table is asserted."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.routing import BaseRoute

from fedperm.crash_points import watching
from fedperm.errors import RefusedError
from fedperm.protocol import PROTOCOL
from fedperm.run_document import DOCUMENT_SIGNATURE
from fedperm.services import KEY_SERVER
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.aggregator import MANIFEST, Heartbeat, Phase, SignedCheckpoint
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.digest import content_digest
from fedperm_aggregator.authorization import Authorization
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import open_stores
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import KEY_OPERATOR, MODEL, OPERATOR, Client, KeyServer
from tests.aggregator.test_checkpoints import certificate, sealed, statement
from tests.aggregator.test_reports import REPORT
from tests.web.unread import Unread

pytestmark = pytest.mark.anyio

# nobody: no credential; expired: the client's own, of yesterday; foreign: of another key server;
# key-op: the key operator's secret; key-srv: an access token for the key server; other-key: for
# another key of the same key server; other: another client of the run; client: the one that the
# path names; operator: the run operator's secret
TABLE = """
                                                       nobody expired foreign key-op key-srv other-key other client operator
PUT    /v1/runs/{run}                                     401     401     401    401     401       401   401    401      200
GET    /v1/runs                                           401     401     401    401     401       401   401    401      200
GET    /v1/runs/{run}                                     401     401     401    401     403       403   200    200      200
GET    /v1/runs/{run}/document                            401     401     401    401     403       403   200    200      200
PUT    /v1/runs/{run}/initial-model                       401     401     401    401     403       403   403    403      200
GET    /v1/runs/{run}/initial-model                       401     401     401    401     403       403   200    200      200
PUT    /v1/runs/{run}/key-epochs/{epoch}                  401     401     401    401     403       403   403    403      200
GET    /v1/runs/{run}/key-epochs                          401     401     401    401     403       403   200    200      200
POST   /v1/runs/{run}/stop                                401     401     401    401     403       403   403    403      200
POST   /v1/runs/{run}/resume                              401     401     401    401     403       403   403    403      200
GET    /v1/runs/{run}/participants                        401     401     401    401     403       403   403    403      200
PUT    /v1/runs/{run}/participants/{client}               401     401     401    401     403       403   403    200      403
PUT    /v1/runs/{run}/participants/{client}/heartbeat     401     401     401    401     403       403   403    200      403
GET    /v1/runs/{run}/participants/{client}/task          401     401     401    401     403       403   403    200      403
PUT    /v1/runs/{run}/rounds/{number}/updates/{client}    401     401     401    401     403       403   403    200      403
GET    /v1/runs/{run}/rounds/{number}/updates/{client}    401     401     401    401     403       403   403    200      200
GET    /v1/runs/{run}/rounds                              401     401     401    401     403       403   403    403      200
GET    /v1/runs/{run}/rounds/{number}                     401     401     401    401     403       403   200    200      200
GET    /v1/runs/{run}/rounds/{number}/report              401     401     401    401     403       403   403    403      200
GET    /v1/runs/{run}/rounds/{number}/aggregate           401     401     401    401     403       403   200    200      200
PUT    /v1/runs/{run}/rounds/{number}/reports/{client}    401     401     401    401     403       403   403    204      403
PUT    /v1/runs/{run}/rounds/{number}/declines/{client}   401     401     401    401     403       403   403    204      403
PUT    /v1/runs/{run}/rounds/{number}/checkpoints/{client} 401    401     401    401     403       403   403    200      403
PUT    /v1/runs/{run}/rounds/{number}/sealed-checkpoints/{client} 401 401 401    401     403       403   403    410      403
GET    /v1/runs/{run}/checkpoint                          401     401     401    401     403       403   404    404      404
GET    /v1/runs/{run}/checkpoint/{sha256}                 401     401     401    401     403       403   404    404      404
GET    /v1/runs/{run}/events                              401     401     401    401     403       403   403    403      200
DELETE /v1/runs/{run}/participants/{client}               401     401     401    401     403       403   403    403      200
"""  # noqa: E501

OPEN = {
    "/livez",
    "/readyz",
    "/version",
    "/metrics",
    "/openapi.json",
}
COLUMNS, *LINES = [line.split() for line in TABLE.strip().splitlines()]
ROWS = [
    (method, path, dict(zip(COLUMNS, map(int, cells), strict=True)))
    for method, path, *cells in LINES
]


@dataclass(frozen=True)
class Body:
    """What a right request of its kind carries."""

    octets: bytes
    media_type: str = "application/json"
    statement: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        digest = content_digest(hashlib.sha256(self.octets).hexdigest())
        headers = {"Content-Type": self.media_type, "Content-Digest": digest}
        return headers | self.statement


def bodies(bench: Bench) -> dict[tuple[str, str], Body]:
    run = "/v1/runs/{run}"
    sent = bench.sent[1, "ada"]
    epoch = f'{{"record": "{bench.server.epoch(1)}"}}'.encode()
    newer = f'{{"record": "{bench.server.epoch(2)}"}}'.encode()
    ada, octets = bench.clients[0], sealed(bench, 1)
    signed = SignedCheckpoint(
        statement=statement(bench, ada, octets), certificate=certificate(bench, ada)
    )
    joining = f'{{"document": "{bench.document.sha256}", "protocol": "{PROTOCOL}"}}'.encode()
    return {
        ("PUT", run): Body(
            bench.document.octets, statement={DOCUMENT_SIGNATURE: bench.document.signature}
        ),
        ("PUT", run + "/initial-model"): Body(MODEL, MEDIA_TYPE),
        ("PUT", run + "/key-epochs/{epoch}"): Body(epoch),
        ("PUT", run + "/participants/{client}"): Body(joining),
        ("PUT", run + "/participants/{client}/heartbeat"): Body(b'{"phase": "idle", "round": 0}'),
        ("PUT", run + "/rounds/{number}/updates/{client}"): Body(
            sent.body, MEDIA_TYPE, {MANIFEST: sent.manifest}
        ),
        ("PUT", run + "/rounds/{number}/declines/{client}"): Body(newer),
        ("PUT", run + "/rounds/{number}/checkpoints/{client}"): Body(
            signed.model_dump_json().encode()
        ),
        ("PUT", run + "/rounds/{number}/sealed-checkpoints/{client}"): Body(MODEL, MEDIA_TYPE),
        ("PUT", run + "/rounds/{number}/reports/{client}"): Body(REPORT.model_dump_json().encode()),
    }


def credentials(bench: Bench, clients: list[Client]) -> dict[str, str | None]:
    server = bench.server
    ada, ben, _ = clients
    now = int(bench.clock.now())
    stranger = KeyServer(bench.clock, server.pairs, signing=Ed25519PrivateKey.generate())
    return {
        "nobody": None,
        "expired": server.token_with(ada, iat=now - 90_000, exp=now - 86_400),
        "foreign": stranger.token(ada),
        "key-op": KEY_OPERATOR,
        "key-srv": server.token(ada, KEY_SERVER),
        "other-key": server.token_with(ada, key="other-key"),
        "other": server.token(ben),
        "client": server.token(ada),
        "operator": OPERATOR,
    }


async def test_every_cell_of_the_table(opened: Bench, clients: list[Client]):
    """Round 1 is published; nothing of what is tried here changes a thing but the last row."""
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    opened.aggregator.services.notifier.close()  # streams end after what is there
    known = bodies(opened)
    shown = {}
    for method, path, _ in ROWS:
        body = known.get((method, path), Body(b""))
        place = path.format(run=opened.run, epoch=1, number=1, client="ada", sha256="0" * 64)
        for column, secret in credentials(opened, clients).items():
            headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
            response = await opened.aggregator.http.request(
                method, place, content=body.octets, headers=headers | body.headers
            )
            shown[method, path, column] = response.status_code
            if response.status_code >= 400:
                assert response.headers["Content-Type"] == "application/problem+json"
            if response.status_code == 401:
                assert response.headers["WWW-Authenticate"] == "Bearer"
    wanted = {(m, p, column): status for m, p, row in ROWS for column, status in row.items()}
    assert shown == wanted


def endpoints(routes: Iterable[BaseRoute]) -> set[tuple[str, str]]:
    """Methods and paths, also of routers within."""
    found: set[tuple[str, str]] = set()
    for route in routes:
        if inner := getattr(route, "original_router", None):
            found |= endpoints(inner.routes)
        else:
            found |= {(method, route.path) for method in route.methods - {"HEAD"}}
    return found


def test_the_table_has_every_endpoint(bench: Bench):
    """Those of the dashboard, which takes cookies, are in tests/dashboard/test_login.py."""
    there = {(m, p) for m, p in endpoints(bench.aggregator.app.routes) if "dashboard" not in p}
    assert there == {(m, p) for m, p, _ in ROWS} | {("GET", path) for path in OPEN}


async def test_the_open_endpoints_need_no_credential(bench: Bench):
    for path in OPEN:
        assert (await bench.aggregator.http.get(path)).status_code == 200


async def test_credentials_of_other_forms_open_nothing(opened: Bench, clients: list[Client]):
    token = opened.server.token(clients[0])
    for value in ("", "Bearer", "Bearer ", f"Basic {token}", token, f"Bearer {token}x", "Bearer é"):
        response = await opened.aggregator.http.get(
            f"/v1/runs/{opened.run}", headers={"Authorization": value.encode()}
        )
        assert response.status_code == 401, value
    unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0." + token.split(".")[1] + "."
    response = await opened.aggregator.http.get(
        f"/v1/runs/{opened.run}", headers={"Authorization": f"Bearer {unsigned}"}
    )
    assert response.status_code == 401


async def test_only_credentials_tell_which_runs_there_are(opened: Bench, clients: list[Client]):
    """A client that is early is told to wait for its run; without it nobody knows its key server,
    so that a stranger's access token is told the same."""
    shown = {}
    for column, secret in credentials(opened, clients).items():
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        response = await opened.aggregator.http.get("/v1/runs/later", headers=headers)
        shown[column] = response.status_code
    assert {column for column, status in shown.items() if status == 401} == {
        *("nobody", "expired", "key-op")
    }
    assert {status for status in shown.values() if status != 401} == {404}


async def test_another_runs_key_server_opens_nothing_here(bench: Bench, clients: list[Client]):
    """Two runs on one aggregator, each with a key server of its own."""
    await bench.create(run="ours")
    stranger = KeyServer(bench.clock, bench.server.pairs)
    theirs = Bench(bench.aggregator, stranger, bench.randomness, clients)
    await theirs.create(run="theirs")
    for path, server, status in (
        ("/v1/runs/ours", bench.server, 200),
        ("/v1/runs/ours", stranger, 401),
        ("/v1/runs/theirs", bench.server, 401),
        ("/v1/runs/theirs", stranger, 200),
    ):
        headers = {"Authorization": f"Bearer {server.token(clients[0])}"}
        assert (await bench.aggregator.http.get(path, headers=headers)).status_code == status


async def test_a_token_that_was_good_before_expires_all_the_same(standing: Bench):
    ada = standing.clients[0]
    token, beat = standing.server.token(ada), Heartbeat(phase=Phase.IDLE, round=0)
    for _ in range(2):
        await standing.api.beat(standing.run, "ada", beat, token)
    standing.clock.advance(900 + 61)
    with pytest.raises(RefusedError) as caught:
        await standing.api.beat(standing.run, "ada", beat, token)
    assert caught.value.status == 401


async def test_a_token_that_was_good_before_opens_no_other_door(standing: Bench):
    """Neither another client's place, nor the operator's."""
    token = standing.server.token(standing.clients[0])
    beat = Heartbeat(phase=Phase.IDLE, round=0)
    await standing.api.beat(standing.run, "ada", beat, token)
    for refused in (
        standing.api.beat(standing.run, "ben", beat, token),
        standing.api.participants(standing.run, token),
        standing.api.run("no-such-run", token),
    ):
        with pytest.raises(RefusedError) as caught:
            await refused
        assert caught.value.status in {403, 404}


async def test_nothing_is_read_of_a_body_before_the_credential_is_good(standing: Bench):
    """Whoever is refused has not made the aggregator read: neither nobody nor a stranger."""
    wrong = {"nobody": {}, "stranger": {"Authorization": "Bearer an-invention"}}
    for method, path, _ in ROWS:
        place = path.format(run=standing.run, epoch=1, number=1, client="ada", sha256="0" * 64)
        for who, header in wrong.items():
            body = Unread()
            given = {"Content-Type": "application/json", **header}
            answer = await standing.aggregator.http.request(
                method, place, content=body, headers=given
            )
            assert (answer.status_code, body.is_read) == (401, False), f"{who} {method} {path}"


async def test_a_client_that_calls_without_a_pause_is_told_how_long_to_wait(
    folder, clock, server, randomness, clients
):
    """Whatever it calls for, and however many tokens it has. Others are served."""
    aggregator = Aggregator(folder, clock, call_burst=5, calls_per_second=0.5)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create()
    ada, ben = clients[:2]
    await bench.join(ada, ben)
    for _ in range(4):
        await bench.beat(ada)
    for path in ("document", "participants/ada/task"):
        answer = await aggregator.http.get(
            f"/v1/runs/{bench.run}/{path}",
            headers={"Authorization": f"Bearer {server.token(ada)}"},
        )
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "2")
    await bench.beat(ben)
    clock.advance(2.0)
    await bench.beat(ada)
    aggregator.close()


async def test_tokens_that_were_seen_need_no_database(standing: Bench):
    await standing.beat(*standing.clients)
    passed: list[str] = []
    with watching(passed.append):
        await standing.beat(*standing.clients)
    assert passed == []


async def test_only_so_many_tokens_are_remembered(standing: Bench):
    documents = RunDocuments(open_stores(standing.aggregator.database))
    calls = RateLimit(10, 1.0, standing.clock)
    gate = Authorization(
        OperatorCredential.of(OPERATOR), documents, standing.clock, calls, most_remembered=2
    )
    tokens = {client.name: standing.server.token(client) for client in standing.clients}
    for name, token in tokens.items():
        gate.admit_client(token, standing.run, name)
    remembered = [gate.remembers(token, standing.run) for token in tokens.values()]
    assert remembered == [False, True, True]
