"""Both servers in this process and clients with state directories, driven step by step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.aggregator import KeyEpoch
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm_client.environment import environment
from fedperm_client.initial_model import InitialModel
from fedperm_client.participant import Participant
from fedperm_client.peers import Peers
from fedperm_client.settings import ClientSettings
from fedperm_client.summary import Summary
from fedperm_client.taking_part import TakingPart
from tests.aggregator.bench import Aggregator
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import CutLine
from tests.client.documents import DIGITS, LINES, OWN_TASK, document, lines_document
from tests.documents.operator import signed
from tests.keyserver.server import KEY_BITS, MovingClock, Server
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

KEY = "main"
MOST_STEPS = 200


class Federation:
    def __init__(
        self,
        folder: Path,
        clock: MovingClock,
        key_database: str | None = None,
        run_database: str | None = None,
    ) -> None:
        """Databases by their URLs; files in the servers' folders if there are none."""
        self.folder = folder
        self.clock = clock
        for name in ("keyserver", "aggregator"):
            (folder / name).mkdir(exist_ok=True)
        self.key_server = Server(folder / "keyserver", clock, url=key_database)
        self.aggregator = Aggregator(folder / "aggregator", clock, database_url=run_database)

    async def create_key(self, wanted: RunDocument | None = None) -> None:
        """The key that the run is to be under."""
        run = wanted or document()
        request = KeyRequest(scheme=run.scheme_spec, keys=run.axes.keys)
        await self.key_server.api.create_key(KEY, request, KEY_OPERATOR)

    async def start(
        self, initial: InitialModel = DIGITS, wanted: RunDocument | None = None
    ) -> FrozenDocument:
        """The key, and a run with everything that it needs."""
        await self.create_key(wanted)
        return await self.start_run(initial, wanted)

    async def start_run(
        self, initial: InitialModel = DIGITS, wanted: RunDocument | None = None, epoch: int = 1
    ) -> FrozenDocument:
        """The wanted run under this federation's key server."""
        signing_key = self.key_server.authority.identity.signing_key
        content = (wanted or document()).model_dump()
        content["key"] |= {"signing_key": signing_key}
        frozen = signed(RunDocument.model_validate(content))
        run, api = frozen.content.run, self.aggregator.api
        await api.create_run(frozen, RUN_OPERATOR)
        await api.put_initial_model(run, initial.body, RUN_OPERATOR)
        await self.put_epoch(epoch, run)
        return frozen

    async def start_lines(self, **changes: Any) -> FrozenDocument:
        return await self.start(LINES, lines_document(**changes))

    async def line_homes(self, *names: str, **settings: Any) -> list["Home"]:
        """Of clients for `start_lines`; their accountant is the quickest."""
        own = {"task": OWN_TASK, "accountant": "no-shuffle-rdp"}
        return [await self.home(name, **(own | settings)) for name in names]

    async def put_epoch(self, epoch: int, run: str = "demo") -> None:
        """Carried from the key server to the aggregator by the operator."""
        signed = await self.key_server.api.epoch(KEY, epoch)
        record = KeyEpoch(record=signed.record)
        await self.aggregator.api.put_key_epoch(run, epoch, record, RUN_OPERATOR)

    async def rest(self, run: str = "demo") -> None:
        """The open round is finished, and no other is opened."""
        await self.aggregator.api.stop(run, RUN_OPERATOR)

    async def rotate_and_go_on(self, epoch: int, run: str = "demo") -> None:
        """While the run rests no round is under the old key, which clients would decline."""
        await self.key_server.api.create_epoch(KEY, epoch, KEY_OPERATOR)
        await self.put_epoch(epoch, run)
        await self.aggregator.api.resume(run, RUN_OPERATOR)

    async def home(self, name: str, **settings: Any) -> "Home":
        wanted = TokenRequest(client=name)
        minted = await self.key_server.api.mint_token(KEY, wanted, KEY_OPERATOR)
        return Home(self, name, minted.token, settings)

    async def homes(self, *names: str, **settings: Any) -> list["Home"]:
        return [await self.home(name, **settings) for name in names]

    async def tick(self) -> None:
        """The aggregator's background work: what is due, and what becomes due by it."""
        background = self.aggregator.services.background
        for _ in range(2):
            await background.tick()
            await background.drain()

    def close(self) -> None:
        self.aggregator.close()
        self.key_server.close()


class Home:
    """Where one client lives: it may be started there again and again."""

    def __init__(
        self, federation: Federation, name: str, token: str, settings: dict[str, Any]
    ) -> None:
        self.name = name
        self.state = federation.folder / name
        self.to_aggregator = _line(federation.aggregator.app)
        self.to_key_server = _line(federation.key_server.app)
        self._federation = federation
        self._settings = {
            "keyserver_url": "http://key-server",
            "aggregator_url": "http://aggregator",
            "run": "demo",
            "key": KEY,
            "enrolment_token": token,
            "state_directory": self.state,
            "max_epsilon": 1000.0,
            "accept_no_record_guarantee": True,
            "min_contributors": 2,
            "min_key_bits": KEY_BITS,
            "insecure_for_tests": True,
            **settings,
        }

    @contextmanager
    def client(
        self,
        patience: Patience = Patience(0.0),  # noqa: B008
        randomness: Random | None = None,
        api: Callable[[Connection], AggregatorApi] = AggregatorApi,
        **changes: Any,
    ) -> Iterator[Participant]:
        """A started client. Leaving the block without more ado is a crash."""
        settings = ClientSettings(**(self._settings | changes))
        peers = Peers(
            KeyServerApi(_connection(self.to_key_server)),
            api(_connection(self.to_aggregator)),
        )
        clock, drawn = self._federation.clock, randomness or Random(f"{self.name} {_starts()}")
        with environment(settings, peers, clock, drawn, poll_seconds=0.0) as given:
            yield Participant(given, patience)

    @property
    def run_folder(self) -> Path:
        return self.state / "runs" / "demo"

    @property
    def summary(self) -> Summary:
        return Summary.model_validate_json((self.state / "summary.json").read_text())

    @property
    def charges(self) -> int:
        """Lines of the ledger but its first."""
        return len((self.state / "privacy-ledger.jsonl").read_text().splitlines()) - 1

    def uploads(self, number: int) -> set[bytes]:
        """All different bodies that left this client for a round."""
        ending = f"/rounds/{number}/updates/{self.name}"
        return {
            request.content
            for request in self.to_aggregator.requests
            if request.method == "PUT" and request.url.path.endswith(ending)
        }


async def drive(
    federation: Federation,
    *clients: Participant,
    rounds: int | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Every client steps in turn until all are finished, or have settled so many rounds."""
    for _ in range(MOST_STEPS):
        busy = [client for client in clients if not _is_done(client, rounds)]
        if not busy:
            return
        for client in busy:
            await client.step()
        meanwhile()
        await federation.tick()
    raise AssertionError(f"not done after {MOST_STEPS} steps of each client")


def settled(client: Participant) -> int:
    """The last round that the client has dealt with."""
    return client.stage.run.checkpoint.settled if isinstance(client.stage, TakingPart) else 0


def _is_done(client: Participant, rounds: int | None) -> bool:
    return client.is_finished or (rounds is not None and settled(client) >= rounds)


def _line(app: Any) -> CutLine:
    return CutLine(httpx.ASGITransport(app=app, raise_app_exceptions=False))


def _connection(line: CutLine) -> Connection:
    http = httpx.AsyncClient(transport=line, base_url="http://server")
    return Connection(http, Patience(seconds=0))


_started = iter(range(1_000_000))


def _starts() -> int:
    """Every start draws other random numbers: a client that should not draw again is noticed."""
    return next(_started)
