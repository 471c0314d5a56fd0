"""It holds the key server's operator secret: alone that reads nothing, with more it reads all."""

import numpy as np
import pytest

from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Bench
from tests.aggregator.parties import KEY_OPERATOR, Client
from tests.aggregator.test_access import ROWS
from tests.federation.wire_oracle import unshuffled
from tests.keyserver.member import Member
from tests.keyserver.refusals import refusal
from tests.keyserver.server import OPERATOR, Server
from tests.keyserver.test_endpoint_walk import TokenRequest

pytestmark = pytest.mark.anyio


async def test_blocked_asking_the_aggregator(opened: Bench):
    """For anything at all."""
    for method, path, _ in ROWS:
        place = path.format(run=opened.run, epoch=1, number=1, client="ada", sha256="0" * 64)
        answer = await opened.aggregator.http.request(
            method, place, headers={"Authorization": f"Bearer {KEY_OPERATOR}"}
        )
        assert answer.status_code == 401, path


async def test_blocked_fetching_a_secret_key_as_operator(key_server: Server, enrolled: Enrol):
    """No interface shows one: releases are for clients, sealed to their keys."""
    await enrolled()
    await refusal(401, "unauthenticated", key_server.api.release("demo", 1, OPERATOR))


async def test_not_covered_enrolling_itself(key_server: Server):
    """Whoever mints tokens can be a client, and clients have the secret key."""
    minted = await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)
    spy = Member(key_server, key_server.clock)
    await spy.enrol(minted.token)
    record = await spy.record(1)
    assert int((await spy.secret_key(1)).public_key.n) == int(record.public["n"], 16)


async def test_not_covered_reading_uploads_with_the_key_server_and_the_aggregators_data(
    opened: Bench, clients: list[Client]
):
    """Secret keys of the one, files of the other: every value in its place."""
    await opened.contribute(1, clients[0])
    state = opened.aggregator.settings.state_directory
    (stolen,) = state.glob("runs/*/rounds/1/uploads/*")
    key = secret_key_to_phe(opened.pair(), SECRET_KEY_ACCESS)
    read = unshuffled(stolen.read_bytes(), opened.document.content, key)
    assert np.array_equal(read, opened.sent[1, "ada"].coded)
