"""Uploads: stored once, acknowledged when durable, and what comes too late."""

import pytest

from fedperm.wire.aggregator import RoundState, SubmissionState
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import Client
from tests.aggregator.uploading import files, finish, refused

pytestmark = pytest.mark.anyio


async def test_other_bytes_are_a_conflict_and_the_first_stay(opened: Bench, clients: list[Client]):
    ada = clients[0]
    first = opened.prepare(ada, 1)
    await opened.upload(ada, 1, first)
    other = ada.prepare(opened.document, 1, 1, opened.pair(), opened.randomness)
    assert await refused(opened, ada, 1, other) == (409, "conflict")
    assert [path.read_bytes() for path in files(opened)] == [first.body]
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")


async def test_an_update_that_comes_too_late_is_gone_and_leaves_nothing(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients[:2])
    opened.clock.advance(61)
    await opened.aggregator.tick()
    late = opened.prepare(clients[2], 1)
    assert await refused(opened, clients[2], 1, late) == (410, "gone")
    assert files(opened) == []
    assert await check_sum(opened, 1) == ("ada", "ben")


async def test_a_client_whose_answer_was_lost_is_welcome_after_the_round(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    assert await opened.state(1) is RoundState.PUBLISHED
    again = opened.sent[1, "ada"]
    receipt = await opened.upload(clients[0], 1, again)
    assert receipt.state is SubmissionState.INCLUDED
    assert files(opened) == []  # destroyed with the round, and not back


async def test_after_the_deadline_an_update_still_counts_while_the_round_is_open(
    opened: Bench, clients: list[Client]
):
    opened.clock.advance(70)
    await finish(opened, clients)


async def test_a_client_that_was_not_selected_is_refused(bench: Bench, clients: list[Client]):
    await bench.create(rounds={"clients_per_round": 2})
    await bench.join(*clients)
    await bench.aggregator.tick()
    asked = await bench.asked(clients, settled=0)
    (left_out,) = [client for client in clients if client not in asked]
    prepared = bench.prepare(left_out, 1)
    assert await refused(bench, left_out, 1, prepared) == (403, "forbidden")
    await finish(bench, asked)
