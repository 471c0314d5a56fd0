"""Runs on one aggregator, and rounds of one run, share nothing but the database: whatever is
counted, asked or settled is of one run and one round alone."""

import pytest
from gmpy2 import mpz

from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.test_validation import with_ciphertext

pytestmark = pytest.mark.anyio


@pytest.fixture
def other(bench: Bench) -> Bench:
    """A second run on the same aggregator."""
    return Bench(bench.aggregator, bench.server, bench.randomness, bench.clients)


async def test_two_runs_count_and_settle_their_own_updates(
    bench: Bench, other: Bench, clients: list[Client]
):
    """Same clients, same round number: `small` has two of them and waits for the second."""
    await bench.create(run="large")
    await other.create(run="small", rounds={"start_with": 2})
    await bench.join(*clients)
    await other.join(*clients[1:])
    await bench.aggregator.tick()
    assert (await other.api.outcome("small", 1, OPERATOR)).selected == ("ben", "cleo")
    await other.contribute(1, clients[1])
    await bench.contribute(1, *clients[:2])
    await bench.aggregator.tick()
    assert (await bench.state(1), await other.state(1)) == (RoundState.OPEN, RoundState.OPEN)
    await bench.contribute(1, clients[2])
    await bench.aggregator.tick()
    assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
    assert await other.state(1) is RoundState.OPEN
    waiting = await other.api.submission(UPDATE, "small", 1, "ben", OPERATOR)
    assert waiting.state is SubmissionState.VALID
    await other.contribute(1, clients[2])
    await other.aggregator.tick()
    assert await check_sum(other, 1) == ("ben", "cleo")


async def test_an_aborted_round_of_one_run_drops_nothing_of_another(
    bench: Bench, other: Bench, clients: list[Client]
):
    await bench.create(run="short", rounds={"deadline_seconds": 30.0, "extensions": 0})
    await other.create(run="long")
    for run in (bench, other):
        await run.join(*clients)
    await bench.aggregator.tick()
    await bench.contribute(1, clients[0])
    await other.contribute(1, *clients[:2])
    bench.clock.advance(30)
    await bench.aggregator.tick()
    assert (await bench.state(1), await other.state(1)) == (RoundState.ABORTED, RoundState.OPEN)
    assert (
        await bench.api.submission(UPDATE, "short", 1, "ada", OPERATOR)
    ).state is SubmissionState.DROPPED
    bench.clock.advance(30)
    await bench.aggregator.tick()
    assert await check_sum(other, 1) == ("ada", "ben")


async def test_rounds_that_another_run_published_save_no_run_from_giving_up(
    bench: Bench, other: Bench, clients: list[Client]
):
    await bench.create(run="fine")
    await bench.join(*clients)
    await bench.aggregator.tick()
    for number in (1, 2):
        await bench.contribute(number, *clients)
        await bench.aggregator.tick()
    await other.create(run="idle", rounds={"count": 9, "extensions": 0, "give_up_after": 1})
    await other.join(*clients)
    await other.aggregator.tick()
    other.clock.advance(60)
    await other.aggregator.tick()
    assert (await bench.api.run("fine", OPERATOR)).state is RunState.COMPLETED
    assert (await other.api.run("idle", OPERATOR)).state is RunState.FAILED


async def test_what_was_rejected_in_one_round_does_not_count_in_the_next(
    opened: Bench, clients: list[Client]
):
    """With ada's update of round 1 in the count, round 2 would be complete without hers."""
    await opened.upload(clients[0], 1, with_ciphertext(opened, clients[0], mpz(0), place=1))
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ben", "cleo")
    await opened.contribute(2, *clients[1:])
    await opened.aggregator.tick()
    assert await opened.state(2) is RoundState.OPEN
    await opened.contribute(2, clients[0])
    await opened.aggregator.tick()
    assert await check_sum(opened, 2) == ("ada", "ben", "cleo")


async def test_an_excluded_participant_of_one_run_is_asked_in_another(
    bench: Bench, other: Bench, clients: list[Client]
):
    await bench.create(run="one", rounds={"start_with": 2})
    await other.create(run="two")
    for run in (bench, other):
        await run.join(*clients)
    await bench.api.exclude("one", "ada", OPERATOR)
    await bench.aggregator.tick()
    assert (await bench.api.outcome("one", 1, OPERATOR)).selected == ("ben", "cleo")
    assert (await other.api.outcome("two", 1, OPERATOR)).selected == ("ada", "ben", "cleo")
