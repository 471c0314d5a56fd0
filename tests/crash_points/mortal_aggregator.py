"""The aggregator as a process that dies, and a run on it whose every contribution is counted."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.api.aggregator import AggregatorApi
from fedperm.services import AGGREGATOR
from fedperm.wire.aggregator import RoundOutcome, RoundState, SubmissionState
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, Prepared, decrypted, document_of
from tests.crash_points.aftermath import Place, contradictions, missing, repetitions
from tests.crash_points.lives import PACE, PACED, TOLL
from tests.crash_points.mortal import Ask, MortalServer, until
from tests.crash_points.nursery import Nursery
from tests.crash_points.paced import Dial, ShiftedClock
from tests.crash_points.points import ROUND
from tests.crash_points.tally import Tally

PAIR = generate_key(Random(7), 512, insecure_for_tests=True)
CLIENTS = [Client(f"client-{u}") for u in range(10)]
DEADLINE_SECONDS = 600.0
"""More than a test takes on any machine: time passes when a test says so."""
RULES = {
    "clients_per_round": 10,
    "min_contributors": 2,
    "start_with": 10,
    "give_up_after": 2,
    "deadline_seconds": DEADLINE_SECONDS,
    "extension_seconds": DEADLINE_SECONDS,
}
UPLOAD = ROUND["upload"]
SHAPE = (3, 4)
"""Windows and columns of the tests' model; client u has its 1 at position u."""


class MortalAggregator(MortalServer):
    def __init__(self, nursery: Nursery, folder: Path, tally: Tally, *, retried: bool) -> None:
        (folder / "token").write_text(OPERATOR)
        super().__init__(
            nursery,
            AGGREGATOR,
            folder,
            tally,
            retried=retried,
            operator_token_file=folder / "token",
            workers_url=f"{PACED}://",
            tick_seconds=0.05,
            lease_seconds=0.1,  # a job that failed is tried again after so long at most
            online_seconds=1_000_000,  # the clock will jump
        )
        self.tally = tally
        self.clock = ShiftedClock.within(folder)
        self.pace, self.toll = Dial(folder / PACE), Dial(folder / TOLL)
        self.acknowledged: set[Place] = set()
        self.damaged: str | None = None
        """A client whose stored upload a test has damaged."""

    @property
    def api(self) -> AggregatorApi:
        return AggregatorApi(self.connection)

    async def died_of(self, moment: str) -> None:
        await super().died_of(moment)
        found = contradictions(self.state)
        if self.acknowledged:
            found += missing(self.state, self.acknowledged)
        self.tally.lost += [f"{moment}: {what}" for what in found if not self._is_excused(what)]
        self.tally.double += [f"{moment}: {what}" for what in repetitions(self.state)]

    def _is_excused(self, contradiction: str) -> bool:
        return self.damaged is not None and self.damaged in contradiction

    async def die_in_turn(self, moments: Sequence[str], begin: Ask[Any], again: Ask[Any]) -> None:
        """Killed at one moment after the other of what `begin` leads to; whoever retries asks
        `again` after each, unless that would lead to the next moment by another way."""
        self.trap.set(moments[0])
        await self.attempt(begin)
        for moment, following in zip_longest(moments, moments[1:]):
            await self.died_of(moment)
            if following:
                self.trap.set(following)
            await self.start()
            if self.retried and following not in UPLOAD:
                await self.attempt(again)


class CountedRun(Bench):
    """Client u contributes 1 at coordinate u: a 2 is a double count, a missing 1 of one who was
    acknowledged a loss."""

    def __init__(self, aggregator: MortalAggregator, name: str, **rounds: Any) -> None:
        server = KeyServer(aggregator.clock, {1: PAIR, 2: PAIR})  # type: ignore[arg-type]
        super().__init__(aggregator, server, Random(name), CLIENTS)  # type: ignore[arg-type]
        self.mortal = aggregator
        self.settings = {
            "run": name,
            "rounds": RULES | rounds,
            "value_bits": 1,
            "norm_bound": None,
        }
        self.acknowledged: dict[int, set[str]] = {}

    def write_document(self) -> None:
        self.document = document_of(self.server, **self.settings)

    async def contribute_one(self, u: int, number: int) -> None:
        """The same bytes each time."""
        client = CLIENTS[u]
        prepared = self.sent.get((number, client.name)) or self.prepare(
            client, number, coded=one_at(u)
        )
        await self.send(u, number, prepared)

    async def send(self, u: int, number: int, prepared: Prepared) -> None:
        self.sent[number, CLIENTS[u].name] = prepared
        await self.upload(CLIENTS[u], number, prepared)
        self.acknowledged.setdefault(number, set()).add(CLIENTS[u].name)
        self.mortal.acknowledged.add((self.run, number, CLIENTS[u].name))

    async def send_again(self, number: int, *who: int) -> None:
        """Those of them who have sent, the same bytes."""
        for u in who:
            if (number, CLIENTS[u].name) in self.sent:
                await self.contribute_one(u, number)

    async def until_state(self, number: int, state: RoundState) -> RoundOutcome:
        async def is_so() -> bool:
            status = await self.api.run(self.run, OPERATOR)
            return status.round >= number and await self.state(number) is state

        await until(is_so, f"round {number} is {state}")
        return await self.api.outcome(self.run, number, OPERATOR)

    async def check_published(self, number: int) -> RoundOutcome:
        """Nothing lost, nothing double."""
        outcome = await self.until_state(number, RoundState.PUBLISHED)
        body = await self.api.aggregate(self.run, number, OPERATOR)
        sums = decrypted(body, self.document.content, self.pair())
        report = await self.api.round_report(self.run, number, OPERATOR)
        rejected = {u.client for u in report.updates if u.state is SubmissionState.REJECTED}
        for u, client in enumerate(CLIENTS):
            times, where = sums[divmod(u, SHAPE[1])], f"{client.name} in round {number}"
            is_due = client.name in self.acknowledged[number] - rejected
            if times > 1:
                self.mortal.tally.double.append(f"{where}: {times} times")
            if is_due and times == 0:
                self.mortal.tally.lost.append(where)
            assert times in {1, 2} or client.name not in outcome.included
        assert np.count_nonzero(sums) == len(outcome.included)
        return outcome


def one_at(u: int) -> NDArray[np.uint8]:
    values = np.zeros(SHAPE, np.uint8)
    values[divmod(u, SHAPE[1])] = 1
    return values
