"""Key server, aggregator and clients as processes of their own, over real HTTP."""

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.aggregator import KeyEpoch, RoundState, RunState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm_cli.federation.processes import Processes, RunningProcess
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
        folder: Path,
        processes: Processes,
        key_bits: int = KEY_BITS,
        *,
        for_key_server: Settings = NONE,
        for_aggregator: Settings = NONE,
        **settings: Any,
    ) -> None:
        """`settings` are for both servers, beside the usual ones."""
        self.folder = folder
        self.key_bits = key_bits
        self._processes = processes
        self.key_operator, self.run_operator = secrets.token_hex(16), secrets.token_hex(16)
        _write(folder / "key-operator", self.key_operator)
        _write(folder / "run-operator", self.run_operator)
        _write(folder / "kek", secrets.token_hex(32))
        self.key_server = processes.start_server(
            "keyserver",
            "fedperm_keyserver",
            _settings(
                "KEYSERVER",
                state_directory=folder / "keyserver-state",
                operator_token_file=folder / "key-operator",
                key_encryption_key_file=folder / "kek",
                insecure_for_tests=True,
                **settings,
                **for_key_server,
            ),
        )
        self.aggregator = processes.start_server(
            "aggregator",
            "fedperm_aggregator",
            _settings(
                "AGGREGATOR",
                state_directory=folder / "aggregator-state",
                operator_token_file=folder / "run-operator",
                insecure_for_tests=True,
                **{"lease_seconds": 2, "processes": 1, **for_aggregator},
                **settings,
            ),
        )
        for server in (self.key_server, self.aggregator):
            server.wait_until_ready()

    def ask_key_server(self, question: Callable[[KeyServerApi], Awaitable[Answer]]) -> Answer:
        async def ask() -> Answer:
            async with http_client(self.key_server.address) as http:
                return await question(KeyServerApi(Connection(http, PATIENCE)))

        return asyncio.run(ask())

    def ask(self, question: Callable[[AggregatorApi], Awaitable[Answer]]) -> Answer:
        """The aggregator."""

        async def ask() -> Answer:
            async with http_client(self.aggregator.address) as http:
                return await question(AggregatorApi(Connection(http, PATIENCE)))

        return asyncio.run(ask())

    def create_run(self, document: dict[str, Any], initial: InitialModel) -> FrozenDocument:
        self.ask_key_server(
            lambda api: api.create_key(KEY, KeyRequest(key_bits=self.key_bits), self.key_operator)
        )
        identity = self.ask_key_server(lambda api: api.identity())
        key = {"key": KEY, "key_bits": self.key_bits, "signing_key": identity.signing_key}
        frozen = FrozenDocument.of(RunDocument.model_validate({**document, "key": key}))
        signed = self.ask_key_server(lambda api: api.epoch(KEY, 1))
        self.run = frozen.content.run
        self.ask(lambda api: api.create_run(frozen, self.run_operator))
        self.ask(lambda api: api.put_initial_model(self.run, initial.body, self.run_operator))
        record = KeyEpoch(record=signed.record)
        self.ask(lambda api: api.put_key_epoch(self.run, 1, record, self.run_operator))
        return frozen

    def token(self, uses: int = 1) -> str:
        wanted = TokenRequest(uses=uses)
        return self.ask_key_server(lambda api: api.mint_token(KEY, wanted, self.key_operator)).token

    def start_client(self, name: str, **settings: Any) -> RunningProcess:
        members = {
            "keyserver_url": self.key_server.address,
            "aggregator_url": self.aggregator.address,
            "run": self.run,
            "key": KEY,
            "enrolment_token": self.token(),
            "state_directory": self.folder / name,
            "min_key_bits": self.key_bits,
            "insecure_for_tests": True,
            "accountant": "no-shuffle-rdp",
            **settings,
        }
        return self._processes.start(
            name,
            "fedperm_client",
            {"OMP_NUM_THREADS": "1", **_settings("CLIENT", **members)},
        )

    def summary(self, name: str) -> Summary:
        return Summary.model_validate_json((self.folder / name / "summary.json").read_text())

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
def world(folder: Path, key_bits: int = KEY_BITS, **settings: Any) -> Iterator[World]:
    with Processes(folder) as processes:
        yield World(folder, processes, key_bits, **settings)


@contextmanager
def stopped(process: RunningProcess) -> Iterator[None]:
    """Frozen in the middle of whatever it does."""
    _signal(process, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(process, signal.SIGCONT)


def _signal(process: RunningProcess, number: signal.Signals) -> None:
    os.killpg(process.pid, number)


def _write(path: Path, secret: str) -> None:
    path.write_text(secret)


def _settings(service: str, **settings: Any) -> dict[str, str]:
    return {f"FEDPERM_{service}_{name.upper()}": str(value) for name, value in settings.items()}
