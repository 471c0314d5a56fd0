"""SIGSTOP, as a frozen machine or a debugger would: real processes, real time."""

import asyncio
import os
import signal
from pathlib import Path
from random import Random

import pytest

from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import RoundState, SubmissionState
from fedperm.wire.events import EventKind
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client, KeyServer
from tests.aggregator.process import (
    PATIENCE_SECONDS,
    Process,
    running,
    until_open,
    until_published,
)
from tests.aggregator.test_pool import wait_until_gone
from tests.proc import is_running

pytestmark = [pytest.mark.anyio, pytest.mark.system]

LEASE_SECONDS = 1.0
SILENCE_SECONDS = 15.0
"""A process takes a while to start, most of all on a machine that runs other tests."""
ROUNDS = {
    "count": 20,
    "deadline_seconds": 3.0,
    "extension_seconds": 3.0,
    "extensions": 100,
}


def bench_on(process: Process, key: SecretKey, randomness: Random, clients: list[Client]) -> Bench:
    return Bench(process, KeyServer(process.clock, {1: key}), randomness, clients)  # type: ignore[arg-type]


async def until_checked(bench: Bench, number: int, client: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await report(bench, number, client)) is SubmissionState.STORED:
            await asyncio.sleep(0.02)


async def report(bench: Bench, number: int, client: str) -> SubmissionState:
    return (await bench.api.submission(UPDATE, bench.run, number, client, OPERATOR)).state


async def events(bench: Bench, kind: EventKind, number: int) -> int:
    """How often this happened in the round, as far as is known now."""
    found = 0
    status = await bench.api.run(bench.run, OPERATOR)
    async for event in bench.api.events(bench.run, OPERATOR):
        found += (event.event, event.round) == (kind, number)
        if event.event == EventKind.ROUND_OPENED and event.round == status.round:
            break
    return found


async def stop_before_the_fold(process: Process, bench: Bench, number: int = 0) -> tuple[int, int]:
    """The worker, stopped while a round has all that it needs and is not sealed yet; which round,
    after the one that is settled. Whatever folds it will meet the stopped worker. A round that was
    quicker does not count."""
    while True:
        number += 1
        await until_open(bench, bench.clients[0], number - 1)
        for client in bench.clients[:2]:
            await bench.contribute(number, client)
            await until_checked(bench, number, client.name)
        (worker,) = process.workers()
        os.kill(worker, signal.SIGSTOP)
        if await bench.state(number) is RoundState.OPEN:
            return worker, number
        os.kill(worker, signal.SIGCONT)
        await until_published(bench, number)


async def until_sealed(bench: Bench, number: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await bench.state(number) is not RoundState.SEALED:
            await asyncio.sleep(0.02)


async def test_a_worker_that_stands_still_in_a_fold_goes_on_or_is_replaced_and_nothing_is_double(
    tmp_path: Path, small_key: SecretKey, randomness: Random, clients: list[Client]
):
    settings = {"lease_seconds": LEASE_SECONDS, "silence_seconds": SILENCE_SECONDS}
    async with running(tmp_path, **settings) as process:
        bench = bench_on(process, small_key, randomness, clients)
        await bench.create(rounds=ROUNDS)
        await bench.join(*clients)
        worker, resumed = await stop_before_the_fold(process, bench)
        await until_sealed(bench, resumed)
        await asyncio.sleep(2 * LEASE_SECONDS)
        os.kill(worker, signal.SIGCONT)  # past its lease, before anybody has lost patience
        await until_published(bench, resumed)
        assert await check_sum(bench, resumed) == ("ada", "ben")
        assert is_running(worker)

        worker, number = await stop_before_the_fold(process, bench, resumed)
        await until_published(bench, number)
        assert await check_sum(bench, number) == ("ada", "ben")
        wait_until_gone(worker)
        assert process.log().count("a worker process is stuck") == 1

        await until_open(bench, clients[0], number)
        await bench.contribute(number + 1, *clients[:2])
        await until_published(bench, number + 1)
        assert await check_sum(bench, number + 1) == ("ada", "ben")

        await until_open(bench, clients[0], number + 1)
        for settled in (resumed, number):
            assert await events(bench, EventKind.ROUND_PUBLISHED, settled) == 1
            assert await events(bench, EventKind.JOB_FAILED, settled) == 0
            aggregates = tmp_path.glob(f"state/runs/*/rounds/{settled}/aggregate.*")
            assert len(list(aggregates)) == 1
        assert await events(bench, EventKind.SUBMISSION_CHECKED, number + 1) == 2


async def test_an_aggregator_that_stood_still_past_leases_and_deadlines_goes_on(
    tmp_path: Path, small_key: SecretKey, randomness: Random, clients: list[Client]
):
    """What is sent meanwhile waits in the kernel, and is taken when it goes on."""
    async with running(tmp_path, lease_seconds=LEASE_SECONDS) as process:
        bench = bench_on(process, small_key, randomness, clients)
        await bench.create(rounds=ROUNDS | {"min_contributors": 3})
        await bench.join(*clients)
        await until_open(bench, clients[0], 0)
        await bench.contribute(1, clients[0])
        await until_checked(bench, 1, "ada")
        (worker,) = process.workers()
        os.kill(worker, signal.SIGSTOP)  # so that a job is under way meanwhile
        await bench.contribute(1, clients[1])
        process.signal(signal.SIGSTOP)
        sending = asyncio.create_task(bench.contribute(1, clients[2]))
        os.kill(worker, signal.SIGCONT)
        await asyncio.sleep(LEASE_SECONDS + ROUNDS["deadline_seconds"])
        assert not sending.done()
        process.signal(signal.SIGCONT)
        await sending
        await until_published(bench, 1)
        assert await check_sum(bench, 1) == ("ada", "ben", "cleo")
        await until_open(bench, clients[0], 1)
        await bench.contribute(2, *clients)
        await until_published(bench, 2)
        assert await check_sum(bench, 2) == ("ada", "ben", "cleo")
        assert is_running(worker)
        await until_open(bench, clients[0], 2)
        assert await events(bench, EventKind.ROUND_PUBLISHED, 1) == 1
        assert await events(bench, EventKind.SUBMISSION_CHECKED, 2) == 3
