"""Any order of uploads, retries, refusals, crashes, rotations and clock jumps.

Client u contributes 1 at coordinate u and 0 elsewhere. Failure is a published sum that holds
anything but that 1 for exactly those clients whose upload was acknowledged: a 2 is a double count,
a 0 of an acknowledged client a loss. Also failures: an answer other than the protocol's, and a run
that does not go on when the faults are over.
"""

import asyncio
from contextlib import ExitStack
from random import Random
from typing import Any

import numpy as np
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from numpy.typing import NDArray

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import RoundOutcome, RoundState
from fedperm_secret.keys import SecretKey, generate_key
from tests.aggregator.bench import Aggregator, Bench, quick_folder
from tests.aggregator.parties import (
    OPERATOR,
    Client,
    KeyServer,
    ManualClock,
    Prepared,
    decrypted,
)

KEYS: list[SecretKey] = [generate_key(Random(s), 512, insecure_for_tests=True) for s in (7, 8)]
CLIENTS = [Client(f"client-{u}") for u in range(4)]
EPOCHS = 30
RULES = {
    "count": 1000,
    "clients_per_round": 3,
    "min_contributors": 2,
    "start_with": 4,
    "deadline_seconds": 60.0,
    "extensions": 1,
    "give_up_after": 1000,
}
SHAPE = (3, 4)
"""Windows and columns of the tests' model; client u has its 1 at position u."""


def one_at(u: int) -> NDArray[np.uint8]:
    values = np.zeros(SHAPE, np.uint8)
    values[0, u] = 1
    return values


EVERYWHERE = np.ones(SHAPE, np.uint8)


class Federation(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32))
    def open_a_run(self, seed: int) -> None:
        self.loop = asyncio.Runner()
        self.resources = ExitStack()
        self.folder = self.resources.enter_context(quick_folder())
        self.clock = ManualClock()
        self.epoch = 1
        self.prepared: dict[tuple[int, str], Prepared] = {}
        self.acknowledged: dict[int, set[str]] = {}
        self.verified: set[int] = set()
        server = KeyServer(self.clock, {e: KEYS[e % 2] for e in range(1, EPOCHS + 1)})
        self.bench = Bench(Aggregator(self.folder, self.clock), server, Random(seed), CLIENTS)
        self.do(self.start())

    def do(self, work: Any) -> Any:
        return self.loop.run(work)

    async def start(self) -> None:
        await self.bench.create(rounds=RULES, value_bits=1, norm_bound=None)
        await self.bench.join(*CLIENTS)
        await self.bench.aggregator.tick()

    async def newest(self) -> RoundOutcome:
        status = await self.bench.api.run(self.bench.run, OPERATOR)
        return await self.bench.api.outcome(self.bench.run, status.round, OPERATOR)

    def prepare(self, u: int, outcome: RoundOutcome) -> Prepared:
        """Prepared once: a retry sends the same bytes."""
        client = CLIENTS[u]
        key = (outcome.round, client.name)
        if key not in self.prepared:
            self.prepared[key] = self.fresh(u, outcome, one_at(u))
        return self.prepared[key]

    def fresh(self, u: int, outcome: RoundOutcome, coded: Any) -> Prepared:
        pair = self.bench.pair(outcome.epoch)
        return CLIENTS[u].prepare(
            self.bench.document, outcome.round, outcome.epoch, pair, self.bench.randomness, coded
        )

    async def send(self, u: int, outcome: RoundOutcome, prepared: Prepared) -> int:
        """The answer's status; 200 stands for any receipt."""
        try:
            await self.bench.upload(CLIENTS[u], outcome.round, prepared)
        except RefusedError as refusal:
            return refusal.status
        return 200

    def expected(self, u: int, outcome: RoundOutcome, otherwise: int) -> int:
        """What the protocol says, if these were the first bytes or the same again."""
        name = CLIENTS[u].name
        if name not in outcome.selected:
            return 403
        if name in self.acknowledged.get(outcome.round, set()):
            return otherwise
        return 200 if outcome.state is RoundState.OPEN else 410

    @rule(u=st.integers(0, 3))
    def upload(self, u: int) -> None:
        """For the first time, again, or too late."""
        outcome = self.do(self.newest())
        status = self.do(self.send(u, outcome, self.prepare(u, outcome)))
        assert status == self.expected(u, outcome, otherwise=200)
        if status == 200:
            self.acknowledged.setdefault(outcome.round, set()).add(CLIENTS[u].name)

    @rule(absent=st.integers(0, 7))
    def let_a_round_pass(self, absent: int) -> None:
        """Everybody who is asked uploads, but for one at times."""
        for u in set(range(4)) - {absent}:
            self.upload(u)
        self.clock.advance(61)
        self.tick()

    @rule(u=st.integers(0, 3))
    def upload_other_bytes(self, u: int) -> None:
        """After the first ones only: a client never makes two."""
        outcome = self.do(self.newest())
        if CLIENTS[u].name in self.acknowledged.get(outcome.round, set()):
            other = self.fresh(u, outcome, EVERYWHERE)
            assert self.do(self.send(u, outcome, other)) == 409

    @rule(u=st.integers(0, 3), other=st.integers(0, 3))
    def replay_what_another_sent(self, u: int, other: int) -> None:
        """Into one's own place: the manifest is another's."""
        outcome = self.do(self.newest())
        if u != other:
            assert self.do(self.send(u, outcome, self.prepare(other, outcome))) == 422

    @rule(u=st.integers(0, 3))
    def upload_under_another_key(self, u: int) -> None:
        outcome = self.do(self.newest())
        wrong = outcome.model_copy(update={"epoch": outcome.epoch % EPOCHS + 1})
        prepared = self.fresh(u, wrong, EVERYWHERE)
        name = CLIENTS[u].name
        expected = 409 if name in outcome.selected else 403
        assert self.do(self.send(u, outcome, prepared)) == expected

    @rule()
    def tick(self) -> None:
        self.do(self.bench.beat(*CLIENTS))
        self.do(self.bench.aggregator.tick())
        self.do(self.verify())

    @rule()
    def start_jobs_and_crash(self) -> None:
        """In the middle of a tick: jobs are leased, their results may or may not be written."""
        self.do(self.bench.aggregator.services.foreman.tick())
        self.crash()

    @rule()
    def crash(self) -> None:
        old = self.bench.aggregator
        self.bench.aggregator = old.restarted()
        self.do(old.services.foreman.drain())

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0, 3600.0, -1.0, -3600.0]))
    def jump(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def rotate(self) -> None:
        if self.epoch < EPOCHS:
            self.epoch += 1
            self.do(self.bench.put_epoch(self.epoch))

    async def verify(self) -> None:
        status = await self.bench.api.run(self.bench.run, OPERATOR)
        for number in set(range(1, status.round + 1)) - self.verified:
            outcome = await self.bench.api.outcome(self.bench.run, number, OPERATOR)
            if outcome.state is RoundState.PUBLISHED:
                await self.check(outcome)
                event("a published round was checked")
            if outcome.state.is_settled:
                self.verified.add(number)

    async def check(self, outcome: RoundOutcome) -> None:
        assert set(outcome.included) == self.acknowledged[outcome.round]
        assert len(outcome.included) >= RULES["min_contributors"]
        body = await self.bench.api.aggregate(self.bench.run, outcome.round, OPERATOR)
        sums = decrypted(body, self.bench.document.content, self.bench.pair(outcome.epoch))
        included = [one_at(u) for u, c in enumerate(CLIENTS) if c.name in outcome.included]
        assert np.array_equal(sums, sum(included))

    def finish_a_round(self) -> None:
        """When the faults are over the run goes on as if nothing had been."""
        self.tick()
        outcome = self.do(self.newest())
        for u in range(4):
            self.upload(u)
        self.tick()
        assert self.do(self.bench.state(outcome.round)) is RoundState.PUBLISHED

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            self.finish_a_round()
            self.bench.aggregator.close()
            self.loop.close()
            self.resources.close()


TestFederation = Federation.TestCase
TestFederation.settings = settings(max_examples=4, stateful_step_count=12, deadline=None)
