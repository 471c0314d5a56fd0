"""The federation of `fedperm demo`, with clients that are recorded."""

import asyncio
import time
from dataclasses import dataclass

from experiments.encrypted import recording_client
from experiments.encrypted.setting import Setting
from fedperm.wire.aggregator import RoundReport, RunStatus
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm_cli.client.tokens import issue_token
from fedperm_cli.demo.environments import (
    aggregator_environment,
    client_environment,
    key_server_environment,
)
from fedperm_cli.demo.folder import DemoFolder
from fedperm_cli.demo.options import NAME
from fedperm_cli.federation.guard import Guard
from fedperm_cli.federation.processes import Processes, RunningProcess
from fedperm_cli.progress_lines import Teller
from fedperm_cli.recipes import images_of
from fedperm_cli.run.creation import create_run
from fedperm_cli.run.document_words import in_words
from fedperm_cli.run.preparation import PreparedRun, prepare
from fedperm_cli.run.shards import smallest_shard
from fedperm_cli.run.specs import parse_task_options
from fedperm_cli.run.watching import View, Watch
from fedperm_cli.servers.sessions import KeyOperator, Server, key_operator, run_operator

SERVERS_START_SECONDS = 120.0
CLIENTS_END_SECONDS = 300.0


@dataclass(frozen=True)
class Told:
    """What the operator and the aggregator know of a run that is over."""

    status: RunStatus
    prepared: PreparedRun
    rounds: tuple[RoundReport, ...]
    clients: tuple[str, ...]
    seconds: float


class Federation:
    """Its processes belong to somebody else, who stops them."""

    def __init__(
        self, setting: Setting, folder: DemoFolder, processes: Processes, tell: Teller
    ) -> None:
        self._setting = setting
        self._options = setting.demo
        self._folder = folder
        self._processes = processes
        self._tell = tell

    async def run(self, view: View) -> Told:
        started_at = time.monotonic()
        servers = [
            self._processes.start_server(name, f"fedperm_{name}", settings)
            for name, settings in (
                ("keyserver", key_server_environment(self._folder, self._options)),
                ("aggregator", aggregator_environment(self._folder, self._options)),
            )
        ]
        min_records = await asyncio.to_thread(self._smallest_shard)
        key_server, aggregator = [
            await asyncio.to_thread(server.wait_until_ready, SERVERS_START_SECONDS)
            for server in servers
        ]
        async with (
            key_operator(Server(key_server), self._folder.key_operator_token) as keys,
            run_operator(Server(aggregator), self._folder.run_operator_token) as runs,
        ):
            await self._make_key(keys)
            clients = self._start_clients(key_server, aggregator)
            prepared = await prepare(NAME, self._setting.run(min_records), keys.api)
            await create_run(prepared, keys.api, runs)
            self._tell("run", in_words(prepared.document.content))
            guard = Guard(servers, clients)
            status = await guard.during(Watch(runs, NAME, view).until_over())
            await guard.during(guard.clients_end(CLIENTS_END_SECONDS))
            rounds = (await runs.api.rounds(NAME, runs.token)).rounds
        names = tuple(client.name for client in clients)
        return Told(status, prepared, rounds, names, time.monotonic() - started_at)

    def _smallest_shard(self) -> int:
        """The filter changes no counts."""
        options = self._options
        given = parse_task_options(images_of(options))
        return smallest_shard(options.dataset.value, given, options.clients, options.data)

    async def _make_key(self, operator: KeyOperator) -> None:
        wanted = KeyRequest(key_bits=self._options.key_bits)
        await operator.api.create_key(NAME, wanted, operator.token)
        token = TokenRequest(uses=self._options.clients)
        await issue_token(operator, NAME, token, self._folder.enrolment_token)

    def _start_clients(self, key_server: str, aggregator: str) -> list[RunningProcess]:
        names = [f"client-{number}" for number in range(1, self._options.clients + 1)]
        return [
            self._processes.start(
                name,
                recording_client.__name__,
                client_environment(self._folder, self._options, name, key_server, aggregator),
            )
            for name in names
        ]
