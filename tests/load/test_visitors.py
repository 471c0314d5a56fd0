"""Clients that only ask."""

import httpx
import pytest

from experiments.load.visitors import enrolled, visit
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.wire.aggregator import Heartbeat, Phase, TaskKind
from fedperm.wire.key_server import TokenRequest
from fedperm_client.peers import Peers
from tests.client.federation import KEY, Federation
from tests.keyserver.server import OPERATOR, MovingClock

pytestmark = pytest.mark.anyio


def connection(app) -> Connection:
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://server")
    return Connection(http, Patience(0.0))


async def test_a_visitor_may_ask_for_tasks_and_report_of_itself(tmp_path):
    clock = MovingClock()
    federation = Federation(tmp_path, clock)
    await federation.start_lines()
    minted = await federation.key_server.api.mint_token(KEY, TokenRequest(uses=2), OPERATOR)
    key_server = KeyServerApi(connection(federation.key_server.app))
    aggregator = AggregatorApi(connection(federation.aggregator.app))
    peers = Peers(key_server, aggregator)
    identities = [await enrolled(minted.token, KEY, peers) for _ in range(2)]
    one, two = [await visit(each, "demo", peers, clock) for each in identities]
    assert one.client != two.client
    asked = await aggregator.next_task("demo", one.client, 0, 0.0, one.access_token)
    assert asked.kind == TaskKind.WAIT
    beat = Heartbeat(phase=Phase.IDLE, round=0)
    status = await aggregator.beat("demo", two.client, beat, two.access_token)
    assert status.online
    federation.close()
