"""A whole federation on this machine, from nothing to the last round."""

import asyncio
import time
from collections.abc import Sequence

from fedperm.wire.aggregator import RunStatus
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm_cli.client.tokens import issue_token
from fedperm_cli.demo.environments import (
    aggregator_environment,
    client_environment,
    key_server_environment,
)
from fedperm_cli.demo.folder import DemoFolder
from fedperm_cli.demo.options import NAME, DemoOptions, run_options, task_name, task_options
from fedperm_cli.demo.outcome import Outcome, read_models
from fedperm_cli.federation.guard import Guard
from fedperm_cli.federation.processes import Processes, RunningProcess, RunningServer
from fedperm_cli.measures import as_seconds
from fedperm_cli.progress_lines import Teller
from fedperm_cli.run.creation import create_run
from fedperm_cli.run.document_words import in_words
from fedperm_cli.run.preparation import PreparedRun, prepare
from fedperm_cli.run.round_summary import summarise
from fedperm_cli.run.shards import smallest_shard
from fedperm_cli.run.specs import parse_task_options
from fedperm_cli.run.watching import View, Watch
from fedperm_cli.servers.sessions import (
    KeyOperator,
    RunOperator,
    Server,
    key_operator,
    run_operator,
)

CLIENTS_END_SECONDS = 60.0
"""They settle the last round and write their models."""


class Federation:
    """Its processes belong to somebody else, who stops them."""

    def __init__(
        self, options: DemoOptions, folder: DemoFolder, processes: Processes, tell: Teller
    ) -> None:
        self._options = options
        self._folder = folder
        self._processes = processes
        self._tell = tell

    async def run(self, view: View) -> Outcome:
        """Plays both operators: apart from demos, these are two people with a token each."""
        started_at = time.monotonic()
        servers = self._start_servers()
        min_records = await asyncio.to_thread(self._smallest_shard)
        key_server, aggregator = [await asyncio.to_thread(s.wait_until_ready) for s in servers]
        self._tell("key server", key_server)
        self._tell("aggregator", aggregator)
        token = self._folder.run_operator_token
        self._tell("dashboard", f"{aggregator}/dashboard, with the token in {token}")
        async with (
            key_operator(Server(key_server), self._folder.key_operator_token) as keys,
            run_operator(Server(aggregator), self._folder.run_operator_token) as runs,
        ):
            await self._make_key(keys)
            clients = self._start_clients(key_server, aggregator)
            prepared = await prepare(NAME, run_options(self._options, min_records), keys.api)
            await create_run(prepared, keys.api, runs)
            self._tell_run(prepared)
            guard = Guard(servers, clients)
            status = await guard.during(Watch(runs, NAME, view).until_over())
            await guard.during(guard.clients_end(CLIENTS_END_SECONDS))
            return await self._outcome(status, prepared, runs, clients, started_at)

    def _start_servers(self) -> tuple[RunningServer, RunningServer]:
        key_server = self._processes.start_server(
            "keyserver",
            "fedperm_keyserver",
            key_server_environment(self._folder, self._options),
        )
        aggregator = self._processes.start_server(
            "aggregator",
            "fedperm_aggregator",
            aggregator_environment(self._folder, self._options),
        )
        return key_server, aggregator

    def _smallest_shard(self) -> int:
        options = self._options
        given = parse_task_options(task_options(options))
        return smallest_shard(task_name(options), given, options.clients, options.data)

    async def _make_key(self, operator: KeyOperator) -> None:
        options = self._options
        begun_at = time.monotonic()
        wanted = KeyRequest(key_bits=options.key_bits)
        status = await operator.api.create_key(NAME, wanted, operator.token)
        took = as_seconds(time.monotonic() - begun_at)
        self._tell("key", f"{status.key_bits} bits, made in {took}")
        token = TokenRequest(uses=options.clients)
        await issue_token(operator, NAME, token, self._folder.enrolment_token)

    def _start_clients(self, key_server: str, aggregator: str) -> list[RunningProcess]:
        """They may start before the run is made: they wait for it."""
        names = [f"client-{number}" for number in range(1, self._options.clients + 1)]
        environments = {
            name: client_environment(self._folder, self._options, name, key_server, aggregator)
            for name in names
        }
        return [
            self._processes.start(name, "fedperm_client", environment)
            for name, environment in environments.items()
        ]

    def _tell_run(self, prepared: PreparedRun) -> None:
        self._tell("run", in_words(prepared.document.content))
        if prepared.planned.warning is not None:
            self._tell("warning", prepared.planned.warning)

    async def _outcome(
        self,
        status: RunStatus,
        prepared: PreparedRun,
        runs: RunOperator,
        clients: Sequence[RunningProcess],
        started_at: float,
    ) -> Outcome:
        document = prepared.document
        rounds = (await runs.api.rounds(NAME, runs.token)).rounds
        return Outcome(
            state=status.state,
            reason=status.reason,
            document=document.sha256,
            parameters=document.content.model.parameters,
            rounds=tuple(summarise(report) for report in rounds),
            clients=read_models(self._folder, [client.name for client in clients], document),
            report=prepared.planned.report,
            seconds=time.monotonic() - started_at,
            folder=self._folder.path,
            logs=self._folder.logs,
        )
