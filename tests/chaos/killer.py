"""Who is killed when, and when they come back: by chance, from a seed."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from fedperm_cli.federation.processes import RunningProcess
from tests.chaos.federation import TroubledFederation, kill

LONGEST_CALM_SECONDS = 6.0
MOST_REQUESTS = 60
"""From one kill to the next; about five rounds' worth."""
LONGEST_ABSENCE_SECONDS = 3.0
PATIENCE_SECONDS = 90.0
"""A worker process is there only once a job was."""
_LOOK_SECONDS = 0.05


class Party(StrEnum):
    KEY_SERVER = "key server"
    AGGREGATOR = "aggregator"
    WORKER = "worker process"
    CLIENT = "client"


WEIGHTS = {Party.KEY_SERVER: 3, Party.AGGREGATOR: 5, Party.WORKER: 5, Party.CLIENT: 2}
"""A client takes seconds to start, all of them CPU."""


class GaveUpError(Exception):
    """A process ended although nobody killed it, or does not do anything any more."""


@dataclass(frozen=True)
class Absence:
    process: RunningProcess
    back_at: float


class Killer:
    def __init__(
        self,
        federation: TroubledFederation,
        randomness: Random,
        requests: Callable[[], int],
        on_kill: Callable[[Party], None],
    ) -> None:
        """`requests` says how many there were so far."""
        self.kills: Counter[Party] = Counter()
        self._requests = requests
        self._federation = federation
        self._randomness = randomness
        self._on_kill = on_kill
        self._absent: list[Absence] = []

    def kill(self, times: int) -> None:
        """So many, each after a while; everybody is back at the end."""
        for party in self._parties(times):
            self._let_work()
            self._kill_when_there(party)
            self.kills[party] += 1
            self._on_kill(party)
        while self._absent:
            self._look()

    def check(self) -> None:
        """Nobody has ended who was not killed."""
        absent = [absence.process for absence in self._absent]
        for process in self._processes():
            code = process.poll()
            if code is not None and process not in absent:
                raise GaveUpError(str(process.failure(f"ended with exit code {code}")))

    def _parties(self, times: int) -> list[Party]:
        """Each at least once if there is room, in any order."""
        more = self._randomness.choices(list(WEIGHTS), list(WEIGHTS.values()), k=times)
        chosen = [*Party, *more][:times]
        self._randomness.shuffle(chosen)
        return chosen

    def _kill_when_there(self, party: Party) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._kill_one(party):
            if time.monotonic() > end:
                raise GaveUpError(f"there is no {party} to kill for {PATIENCE_SECONDS:g} s")
            self._look()

    def _let_work(self) -> None:
        """For so many requests, or a few seconds if there are none; then it may hit anything."""
        wanted = self._requests() + self._randomness.randint(0, MOST_REQUESTS)
        end = time.monotonic() + LONGEST_CALM_SECONDS
        while self._requests() < wanted and time.monotonic() < end:
            self._look()
        time.sleep(self._randomness.uniform(0.0, 0.2))

    def _look(self) -> None:
        self._bring_back()
        self.check()
        time.sleep(_LOOK_SECONDS)

    def _bring_back(self) -> None:
        now = time.monotonic()
        for absence in [a for a in self._absent if a.back_at <= now]:
            absence.process.restart()
            self._absent.remove(absence)

    def _kill_one(self, party: Party) -> bool:
        """False if none of them is there now."""
        if party is Party.WORKER:
            return self._kill_worker()
        absent = [absence.process for absence in self._absent]
        present = [p for p in self._candidates(party) if p not in absent]
        if not present:
            return False
        process = self._randomness.choice(present)
        kill(process.pid)
        process.wait(10)
        at_once = self._randomness.random() < 0.5
        pause = 0.0 if at_once else self._randomness.uniform(0.0, LONGEST_ABSENCE_SECONDS)
        self._absent.append(Absence(process, time.monotonic() + pause))
        return True

    def _kill_worker(self) -> bool:
        workers = self._federation.workers()
        if not workers:
            return False
        try:
            kill(self._randomness.choice(workers))
        except ProcessLookupError:
            return False
        return True

    def _candidates(self, party: Party) -> list[RunningProcess]:
        match party:
            case Party.KEY_SERVER:
                return [self._federation.world.key_server]
            case Party.AGGREGATOR:
                return [self._federation.world.aggregator]
            case _:
                return [member.process for member in self._federation.members]

    def _processes(self) -> list[RunningProcess]:
        return [p for party in Party if party is not Party.WORKER for p in self._candidates(party)]
