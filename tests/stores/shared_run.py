"""A run in the stores of two aggregators that share a database, as two processes would."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.database import Database, open_database
from fedperm.wire.aggregator import RoundState
from fedperm.wire.events import EventKind
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.migrations import SCHEMA
from fedperm_aggregator.records import (
    Advance,
    Aggregate,
    BegunPhase,
    Claim,
    Decision,
    JobKind,
    Lease,
    NewSubmission,
    Open,
    StoredSubmission,
    SubmissionPlace,
    Verdict,
)
from fedperm_aggregator.stores import Stores, open_stores
from fedperm_aggregator.submissions.rules import judge
from tests.aggregator.parties import KeyServer, ManualClock, document_of

NOW = 1_700_000_000.0
LEASE_SECONDS = 15.0
VALID = Verdict(norm_before=1.0, norm_after=1.0, bounded=False)


def digest(number: int) -> str:
    return f"{number:064x}"


def aggregate(number: int) -> Aggregate:
    return Aggregate(digest(number), 100, 2, 0.5, 0.5)


def sealing(number: int) -> Advance:
    return Advance(number, BegunPhase("fold", RoundState.SEALED, job=JobKind.FOLD))


class SharedRun:
    """Of so many clients, with a round open that asks all of them."""

    def __init__(self, url: str, clients: int) -> None:
        self.databases = [open_database(url, SCHEMA) for _ in range(2)]
        self.sides = [open_stores(database) for database in self.databases]
        self.clients = [f"client-{i}" for i in range(clients)]
        server = KeyServer(ManualClock(), {}, signing=Ed25519PrivateKey.generate())
        document = document_of(server)
        self.run = document.content.run
        self.stores.runs.create(document, NOW)
        for client in self.clients:
            self.stores.participants.join(self.run, client, "key", NOW)
        self.decide(self.opening(1))

    @property
    def stores(self) -> Stores:
        return self.sides[0]

    @property
    def database(self) -> Database:
        return self.databases[0]

    def close(self) -> None:
        for database in self.databases:
            database.close()

    def decide(self, decision: Decision, stores: Stores | None = None) -> None:
        stores = stores or self.stores
        stores.rounds.advance(self.run, lambda _: True, lambda _: decision, NOW)

    def store(
        self, client: str, number: int, stores: Stores | None = None, in_round: int = 1
    ) -> tuple[StoredSubmission, bool]:
        """An update of the client, of this digest."""
        new = NewSubmission(self.place(client, in_round), digest(number), 100, "manifest")
        claim = Claim(UPDATE_KIND, 1, digest(number), "key")
        store = (stores or self.stores).submissions
        return store.store(new, lambda slot: judge(slot, claim), NOW)

    def place(self, client: str, number: int = 1) -> SubmissionPlace:
        return SubmissionPlace(UPDATE_KIND, self.run, number, client)

    def opening(self, number: int) -> Open:
        asked = tuple(self.clients)
        return Open(number, 1, BegunPhase("collect", RoundState.OPEN, UPDATE_KIND, asked, NOW + 60))

    def claim(self, now: float = NOW, most: int = 100, seed: int = 1) -> list[Lease]:
        return self.stores.jobs.claim(now, LEASE_SECONDS, most, Random(seed))

    def check_all(self) -> None:
        for lease in self.claim():
            if lease.kind is JobKind.CHECK:
                self.stores.submissions.settle(lease, VALID, NOW)

    def seal(self) -> None:
        self.decide(sealing(1))

    def events(self, *kinds: EventKind) -> list[str]:
        happened = self.stores.events.of_run(self.run, 0)
        return [event.event for event in happened if event.event in kinds]


def at_once(threads: int, work: Any) -> list[Any]:
    """What `work` returned or raised, by its number."""

    def attempt(number: int) -> Any:
        try:
            return work(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(attempt, range(threads)))
