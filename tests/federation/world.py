"""Key server, aggregator and clients as processes of their own, over real HTTP: the product's
launcher and operators, with questions that a test can ask without an event loop."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.wire.aggregator import RoundState, RunState
from fedperm.wire.key_server import TokenRequest
from fedperm_cli.federation.folder import make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.operation import Operators, operators_of
from fedperm_cli.federation.processes import Processes, RunningProcess
from fedperm_cli.run.planning import PlannedRun
from fedperm_cli.run.preparation import PreparedRun
from fedperm_client.initial_model import InitialModel
from fedperm_client.summary import Summary

KEY = "main"
KEY_BITS = 512
PATIENCE = Patience(30.0)

Answer = TypeVar("Answer")
Settings = Mapping[str, Any]
NONE: Settings = {}


class World:
    def __init__(
        self,
        launcher: Launcher,
        key_bits: int = KEY_BITS,
        *,
        for_key_server: Settings = NONE,
        for_aggregator: Settings = NONE,
        **settings: Any,
    ) -> None:
        """`settings` are for both servers, beside the usual ones."""
        self.folder = launcher.folder
        self.key_bits = key_bits
        self._launcher = launcher
        self.key_operator, self.run_operator = (
            self.folder.operator_token(service).read_text() for service in (KEY_SERVER, AGGREGATOR)
        )
        self.key_server = launcher.start_server(KEY_SERVER, **settings, **for_key_server)
        self.aggregator = launcher.start_server(
            AGGREGATOR, **{"lease_seconds": 2, "processes": 1, **for_aggregator}, **settings
        )
        launcher.wait_until_ready()

    def operate(self, work: Callable[[Operators], Awaitable[Answer]]) -> Answer:
        """As both operators; a server that is away is waited for."""

        async def operating() -> Answer:
            async with operators_of(self._launcher, PATIENCE) as operators:
                return await work(operators)

        return asyncio.run(operating())

    def ask_key_server(self, question: Callable[[KeyServerApi], Awaitable[Answer]]) -> Answer:
        return self.operate(lambda operators: question(operators.keys.api))

    def ask(self, question: Callable[[AggregatorApi], Awaitable[Answer]]) -> Answer:
        """The aggregator."""
        return self.operate(lambda operators: question(operators.runs.api))

    def create_run(self, document: dict[str, Any], initial: InitialModel) -> FrozenDocument:
        async def create(operators: Operators) -> FrozenDocument:
            await operators.make_key(KEY, self.key_bits)
            identity = await operators.keys.api.identity()
            key = {
                "key": KEY,
                "parameters": {"key_bits": self.key_bits},
                "signing_key": identity.signing_key,
            }
            named = {"key": key, "operator": operators.identity.keys.model_dump()}
            content = RunDocument.model_validate({**document, **named})
            frozen = operators.identity.sign(FrozenDocument.of(content))
            planned = PlannedRun(frozen, reasons=(), report=None)  # nobody reads what it costs
            await operators.create(PreparedRun(planned, initial.body))
            return frozen

        frozen = self.operate(create)
        self.run = frozen.content.run
        return frozen

    def token(self, uses: int = 1) -> str:
        wanted = TokenRequest(uses=uses)
        return self.ask_key_server(lambda api: api.mint_token(KEY, wanted, self.key_operator)).token

    def start_client(self, name: str, **settings: Any) -> RunningProcess:
        usual = {
            "run": self.run,
            "key": KEY,
            "enrolment_token": self.token(),
            "min_key_bits": self.key_bits,
            "accountant": "no-shuffle-rdp",
            "accept_no_record_guarantee": "max_record_epsilon" not in settings,
            "min_contributors": 2,
        }
        return self._launcher.start_client(name, **{**usual, **settings})

    def participants(self) -> int:
        return self.ask(lambda api: api.run(self.run, self.run_operator)).participants

    def start_dashboard(self) -> str:
        """The run operator's; the link that logs in."""
        return self._launcher.login_link(self._launcher.start_dashboard())

    def summary(self, name: str) -> Summary:
        return Summary.model_validate_json((self.folder.state(name) / "summary.json").read_text())

    def wait_for_updates(self, number: int, count: int) -> None:
        """Until the round is open and so many updates were acknowledged."""
        self.wait_until(lambda: self._updates(number) >= count, f"{count} updates in {number}")

    def wait_for_end(self) -> RunState:
        def is_over() -> bool:
            return self.ask(lambda api: api.run(self.run, self.run_operator)).state.is_over

        self.wait_until(is_over, "the end of the run", pause_seconds=0.3)
        return self.ask(lambda api: api.run(self.run, self.run_operator)).state

    def wait_until(
        self,
        done: Callable[[], bool],
        what: str,
        seconds: float = 300.0,
        pause_seconds: float = 0.1,
    ) -> None:
        """A question takes some milliseconds of CPU: a longer pause spares them."""
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, f"no {what} after {seconds} s"
            time.sleep(pause_seconds)

    def _updates(self, number: int) -> int:
        listed = self.ask(lambda api: api.rounds(self.run, self.run_operator)).rounds
        for report in listed:
            if report.outcome.round == number and report.outcome.state is RoundState.OPEN:
                return len(report.updates)
        return 0


@contextmanager
def world(path: Path, key_bits: int = KEY_BITS, **settings: Any) -> Iterator[World]:
    folder = make_folder(path)
    with Processes(folder.logs) as processes:
        launcher = Launcher(folder, processes, insecure_for_tests=True)
        yield World(launcher, key_bits, **settings)


@contextmanager
def stopped(process: RunningProcess) -> Iterator[None]:
    """Frozen in the middle of whatever it does."""
    os.killpg(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGCONT)
