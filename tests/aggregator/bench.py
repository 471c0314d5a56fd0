"""An aggregator in this process: real routes, real files and database, time moved by hand."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
from fastapi import FastAPI

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.blobs.registry import open_store
from fedperm.database import open_database
from fedperm.protocol import PROTOCOL
from fedperm.run_document import FrozenDocument
from fedperm.state_folder import make_state_folder
from fedperm.submissions import UPDATE
from fedperm.web.credentials import OperatorCredential
from fedperm.wire.aggregator import (
    Heartbeat,
    KeyEpoch,
    ParticipantStatus,
    Participation,
    Phase,
    RoundState,
    SubmissionReceipt,
    Task,
    TaskKind,
)
from fedperm.workers import Workers
from fedperm_aggregator.app import Parts, build_app
from fedperm_aggregator.jobs.pool import WorkerPool
from fedperm_aggregator.migrations import SCHEMA
from fedperm_aggregator.services import Services
from fedperm_aggregator.settings import AggregatorSettings
from fedperm_aggregator.stores.events import EventStore
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.parties import (
    MODEL,
    OPERATOR,
    Client,
    KeyServer,
    ManualClock,
    Prepared,
    document_of,
)
from tests.core.federation import InlineExecutor

IN_THIS_PROCESS = Workers(InlineExecutor(), 2)


MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """In memory where the system has such a place: nobody pulls a plug in this process."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


def settings_in(folder: Path, **changes: Any) -> AggregatorSettings:
    members = {
        "operator_token_file": folder / "unused",
        "state_directory": folder / "state",
        "insecure_for_tests": True,
    }
    return AggregatorSettings(**(members | changes))


class Aggregator:
    """One process's worth; `restarted` makes the next one on the same folder."""

    def __init__(
        self,
        folder: Path,
        clock: ManualClock,
        workers: Workers = IN_THIS_PROCESS,
        seed: int = 1,
        **settings: Any,
    ) -> None:
        self.folder, self.clock, self.workers, self.seed = folder, clock, workers, seed
        self.changes, self.settings = settings, settings_in(folder, **settings)
        make_state_folder(self.settings.state_directory)
        self.database = open_database(self.settings.url, SCHEMA)
        self.blobs = open_store(self.settings.blob_store_url)
        self.pool = WorkerPool(lambda: self.workers)
        self.app: FastAPI = build_app(
            Parts(
                self.settings,
                OperatorCredential.of(OPERATOR),
                self.database,
                self.blobs,
                self.pool,
                self.clock,
                Random(self.seed),
            )
        )
        self.services: Services = self.app.state.services
        self.events = EventStore(self.database)
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        self.http = http_client("http://aggregator", transport=transport)
        self.api = AggregatorApi(Connection(self.http, Patience(0.0)))

    def close(self) -> None:
        self.services.background.stop()
        self.database.close()

    def restarted(self) -> "Aggregator":
        """As after a crash: nothing of this one is closed in order, its memory is lost."""
        successor = Aggregator(self.folder, self.clock, seed=self.seed + 1, **self.changes)
        successor.services.background.start()
        return successor

    def sibling(self, workers: Workers) -> "Aggregator":
        """A second one on the same state, as if nothing forbade it."""
        return Aggregator(self.folder, self.clock, workers, self.seed + 1, **self.changes)

    async def tick(self) -> None:
        """Until nothing is left to do at this moment: nothing happened in the last tick."""
        background, before = self.services.background, -1
        while before != (before := self.events.newest()):
            await background.tick()
            await background.drain()


class Bench:
    """An aggregator with a run on it and clients for it."""

    def __init__(
        self,
        aggregator: Aggregator,
        server: KeyServer,
        randomness: Random,
        clients: list[Client],
    ) -> None:
        self.aggregator = aggregator
        self.server = server
        self.randomness = randomness
        self.document: FrozenDocument = document_of(server)
        self.clients = clients
        self.sent: dict[tuple[int, str], Prepared] = {}

    @property
    def api(self) -> AggregatorApi:
        return self.aggregator.api

    @property
    def clock(self) -> ManualClock:
        return self.aggregator.clock

    @property
    def run(self) -> str:
        return self.document.content.run

    def pair(self, epoch: int = 1) -> SecretKey:
        return self.server.pairs[epoch]

    async def create(self, *, epochs: int = 1, **changes: Any) -> None:
        """A run with its model and its first key epochs."""
        self.document = document_of(self.server, **changes)
        await self.api.create_run(self.document, OPERATOR)
        await self.api.put_initial_model(self.run, MODEL, OPERATOR)
        for epoch in range(1, epochs + 1):
            await self.put_epoch(epoch)

    async def put_epoch(self, epoch: int) -> None:
        record = KeyEpoch(record=self.server.epoch(epoch))
        await self.api.put_key_epoch(self.run, epoch, record, OPERATOR)

    async def join(self, *clients: Client) -> None:
        for client in clients:
            message = Participation(document=self.document.sha256, protocol=PROTOCOL)
            await self.api.join(self.run, client.name, message, self.server.token(client))

    async def beat(self, *clients: Client) -> ParticipantStatus:
        for client in clients:
            message = Heartbeat(phase=Phase.IDLE, round=0)
            status = await self.api.beat(self.run, client.name, message, self.server.token(client))
        return status

    async def task(self, client: Client, settled: int = 0) -> Task:
        return await self.api.next_task(
            self.run, client.name, settled, 0.0, self.server.token(client)
        )

    def prepare(self, client: Client, number: int, epoch: int = 1, **changes: Any) -> Prepared:
        prepared = client.prepare(
            self.document, number, epoch, self.pair(epoch), self.randomness, **changes
        )
        self.sent[number, client.name] = prepared
        return prepared

    async def upload(self, client: Client, number: int, prepared: Prepared) -> SubmissionReceipt:
        token = self.server.token(client)
        return await self.api.submit(
            UPDATE, self.run, number, client.name, prepared.body, prepared.manifest, token
        )

    async def contribute(self, number: int, *clients: Client, epoch: int = 1) -> None:
        for client in clients:
            await self.upload(client, number, self.prepare(client, number, epoch))

    async def asked(self, clients: list[Client], settled: int) -> list[Client]:
        """Those that have a task to train."""
        return [c for c in clients if (await self.task(c, settled)).kind == TaskKind.TRAIN]

    async def state(self, number: int) -> RoundState:
        return (await self.api.outcome(self.run, number, OPERATOR)).state
