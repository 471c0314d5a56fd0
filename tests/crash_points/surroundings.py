"""All parties of a federation but one, in this process: two servers, Ben and Cleo, and a judge who
knows the secret key and works out what the model is after every round."""

from contextlib import ExitStack
from pathlib import Path
from random import Random

import numpy as np

from fedperm.aggregate import average_update
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.wire.aggregator import RoundState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.model import Parameters
from fedperm.wire.statements import SchemeSpec
from fedperm_client.initial_model import initial_model
from fedperm_keyserver.stores.keys import KeyStore
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, decrypted, document_of
from tests.crash_points.hosted import hosted
from tests.crash_points.mortal import until
from tests.crash_points.paced import ShiftedClock
from tests.crash_points.upload_recorder import UploadRecorder
from tests.keys.sealing import taken_out
from tests.keyserver.server import KEY_BITS, Server
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

KEY = "main"
NAME = "ada"
OTHERS = [Client("ben"), Client("cleo")]
OPTIONS = {"parameters": 10}
INITIAL = initial_model("synthetic", OPTIONS, seed=0)
DEADLINE_SECONDS = 600.0
"""More than a test takes on any machine."""


class Federation:
    """Everything but Ada: her round waits for her until the clock is moved."""

    def __init__(self, folder: Path) -> None:
        for name in ("keyserver", "aggregator", NAME):
            (folder / name).mkdir()
        self.folder = folder
        self.clock = clock = ShiftedClock.within(folder / NAME)
        self.key_server = Server(folder / "keyserver", clock)  # type: ignore[arg-type]
        self.aggregator = Aggregator(
            folder / "aggregator",
            clock,  # type: ignore[arg-type]
            tick_seconds=0.1,
            online_seconds=1e6,
        )
        self.uploads = UploadRecorder(self.aggregator.app)
        self.models: dict[tuple[str, int], Parameters] = {}
        """After so many settled rounds of a run."""
        self.documents: dict[str, str] = {}
        """Their digests."""

    async def open(self, stack: ExitStack) -> None:
        """Both servers listen, and there is a key."""
        closing = self.aggregator.services.notifier.close
        self.key_server_url = stack.enter_context(hosted(self.key_server.app))
        self.aggregator_url = stack.enter_context(hosted(self.uploads, closing))
        await self.key_server.api.create_key(
            KEY, KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), KEY_OPERATOR
        )
        authority = self.key_server.authority
        epoch = KeyStore(self.key_server.database).epoch(KEY, 1)
        self.aggregator.http = http_client(self.aggregator_url)
        self.aggregator.api = AggregatorApi(Connection(self.aggregator.http, Patience(10.0)))
        self.bench = Bench(
            self.aggregator,
            KeyServer(
                self.clock,  # type: ignore[arg-type]
                {1: taken_out(authority.vault, epoch)},
                KEY,
                authority.vault.signing_key,
            ),
            Random(9),
            OTHERS,
        )

    async def start_run(self, run: str, count: int, start_with: int) -> None:
        """For three clients; two are enough, and there."""
        bench = self.bench
        bench.document = document_of(
            bench.server,
            run=run,
            task={"name": "synthetic", "options": {**OPTIONS, "shards": 3}},
            model=INITIAL.spec.model_dump(),
            training={"learning_rate": 1.0},
            noise={"clip": 1.0, "laplace_scale": 0.5},
            norm_bound=None,
            rounds={"count": count, "start_with": start_with, "deadline_seconds": DEADLINE_SECONDS},
        )
        await bench.api.create_run(bench.document, OPERATOR)
        await bench.api.put_initial_model(run, INITIAL.body, OPERATOR)
        await bench.put_epoch(1)
        await bench.join(*OTHERS)
        self.documents[run] = bench.document.sha256
        self.models[run, 0] = np.zeros(OPTIONS["parameters"])

    @property
    def round(self) -> int:
        """The next one to settle."""
        return max(number for run, number in self.models if run == self.bench.run) + 1

    async def play_the_others(self) -> None:
        await self._until(RoundState.OPEN)
        await self.bench.contribute(self.round, *OTHERS)

    def let_time_pass(self) -> None:
        """More than a round has; for Ada too."""
        self.clock.advance(DEADLINE_SECONDS + 1)

    async def settle(self) -> tuple[str, ...]:
        """Works out the model after the round that ends now; who is in it."""
        await self._until(RoundState.PUBLISHED)
        bench, number = self.bench, self.round
        document = bench.document.content
        outcome = await bench.api.outcome(bench.run, number, OPERATOR)
        body = await bench.api.aggregate(bench.run, number, OPERATOR)
        sums = decrypted(body, document, bench.pair())
        moved = average_update(sums, len(outcome.included), document.plan, document.noise.clip)
        self.models[bench.run, number] = self.models[bench.run, number - 1] + moved
        return outcome.included

    async def has_joined(self, client: str) -> bool:
        joined = self.aggregator.services.participants.all(self.bench.run)
        return client in {one.client for one in joined}

    async def _until(self, state: RoundState) -> None:
        """Asks the service itself: over HTTP it would have little time for anything else."""
        services, run = self.aggregator.services, self.bench.run

        async def is_so() -> bool:
            has_begun = services.runs.status(run).round >= self.round
            return has_begun and services.rounds.outcome(run, self.round).state is state

        await until(is_so, f"round {self.round} is {state}")

    async def token(self, client: str) -> str:
        wanted = TokenRequest(client=client)
        return (await self.key_server.api.mint_token(KEY, wanted, KEY_OPERATOR)).token

    async def close(self) -> None:
        await self.aggregator.http.aclose()
        self.key_server.close()
