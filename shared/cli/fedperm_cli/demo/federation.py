"""A whole federation on this machine, from nothing to the last round."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fedperm.privacy.noise_limits import LEAST_LAPLACE_SCALE, refusal_warning
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.report import PrivacyReport
from fedperm.services import CLIENT
from fedperm_cli.demo.options import KEY, RUN, DemoOptions, task_name, task_options
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.federation.guard import Guard
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.operation import FinishedRun, Operators, operators_of
from fedperm_cli.federation.processes import READY_SECONDS, Processes, RunningProcess
from fedperm_cli.measures import as_seconds
from fedperm_cli.progress_lines import Teller
from fedperm_cli.run.document_words import in_words
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.preparation import PreparedRun
from fedperm_cli.run.shards import smallest_shard
from fedperm_cli.run.specs import parse_task_options
from fedperm_cli.run.watching import View

_CLIENT_PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Limits:
    """How long the processes may take to start, and to end after the run: clients settle the last
    round then and write their models."""

    servers_start_seconds: float = READY_SECONDS
    clients_end_seconds: float = 60.0


@dataclass(frozen=True)
class DemoRun(FinishedRun):
    """`clients` are the names of their processes."""

    clients: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class DemoFederation:
    """Its processes belong to somebody else, who stops them. `run_options` are those of the run,
    given the size of the smallest client; `client_module` is the program of the clients."""

    options: DemoOptions
    folder: FederationFolder
    processes: Processes
    tell: Teller
    run_options: Callable[[int], RunOptions]
    client_module: str = CLIENT.module
    limits: Limits = Limits()
    with_dashboard: bool = False

    async def run(self, view: View) -> DemoRun:
        """Plays both operators: apart from demos, these are two people with a token each."""
        started_at = time.monotonic()
        launcher = Launcher(
            self.folder, self.processes, insecure_for_tests=self.options.insecure_test_key
        )
        launcher.start_servers()
        min_records = await asyncio.to_thread(self._smallest_shard)
        await asyncio.to_thread(launcher.wait_until_ready, self.limits.servers_start_seconds)
        self._tell_servers(launcher)
        dashboard = launcher.start_dashboard() if self.with_dashboard else None
        async with operators_of(launcher) as operators:
            await self._make_key(operators)
            if dashboard is not None:
                self._tell_link(await asyncio.to_thread(launcher.login_link, dashboard))
            prepared = await operators.prepare(RUN, self.run_options(min_records))
            clients = self._start_clients(launcher, prepared.planned.report)
            await operators.create(prepared)
            self._tell_run(prepared)
            guard = Guard(list(launcher.servers.values()), clients)
            status = await guard.during(operators.watch(RUN, view))
            await guard.during(guard.clients_end(self.limits.clients_end_seconds))
            finished = await operators.finished(status, prepared)
        return DemoRun(
            **vars(finished),
            clients=tuple(client.name for client in clients),
            seconds=time.monotonic() - started_at,
        )

    def _smallest_shard(self) -> int:
        options = self.options
        given = parse_task_options(task_options(options))
        return smallest_shard(task_name(options), given, options.clients, options.data)

    def _tell_servers(self, launcher: Launcher) -> None:
        for service, server in launcher.servers.items():
            self.tell(service.title, server.address)

    def _tell_link(self, link: str) -> None:
        self.tell("dashboard", link)
        self.tell("", f"opens once, in a browser here; then {self.folder.login_link} has the next")

    async def _make_key(self, operators: Operators) -> None:
        begun_at = time.monotonic()
        status = await operators.make_key(KEY, self.options.key_bits)
        took = as_seconds(time.monotonic() - begun_at)
        self.tell("key", f"{status.scheme}, made in {took}")
        await operators.make_token(KEY, self.options.clients, self.folder.enrolment_token)

    def _start_clients(
        self, launcher: Launcher, promised: PrivacyReport | None
    ) -> list[RunningProcess]:
        """Before the run is made: they wait for it."""
        settings = client_settings(self.options, self.folder.enrolment_token, promised)
        return [
            launcher.start_client(f"client-{number}", module=self.client_module, **settings)
            for number in range(1, self.options.clients + 1)
        ]

    def _tell_run(self, prepared: PreparedRun) -> None:
        self.tell("run", in_words(prepared.document.content))
        for warning in prepared.planned.warnings:
            self.tell("warning", warning)


def client_settings(
    options: DemoOptions, enrolment_token: Path, promised: PrivacyReport | None
) -> dict[str, object]:
    """Of a client whose owner looked at the demo's promise and gives exactly that."""
    own = {} if options.task is None else {"task": options.task}
    return {
        "run": RUN,
        "key": KEY,
        "enrolment_token_file": enrolment_token,
        "data_directory": options.data.resolve(),
        "max_epsilon": options.epsilon,
        "min_key_bits": options.key_bits,
        "patience_seconds": _CLIENT_PATIENCE_SECONDS,
        **_given_for_a_record(promised),
        **own,
    }


def _given_for_a_record(promised: PrivacyReport | None) -> dict[str, object]:
    """What a client gives by default covers most demos; the rest is said by name."""
    if promised is None or refusal_warning(promised) is None:
        return {}
    record = promised.rows.record
    if isinstance(record, RecordGuarantee):
        return {"max_record_epsilon": record.epsilon}
    return {
        "accept_no_record_guarantee": True,
        "min_laplace_scale": min(LEAST_LAPLACE_SCALE, promised.laplace_scale),
    }
