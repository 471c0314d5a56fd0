"""An aggregator, a crowd and an onlooker: three processes, and what they cost."""

import asyncio
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from experiments.load.interface import ask
from experiments.rush.crowd import run_crowd
from experiments.rush.onlooker import run_onlooker
from experiments.rush.report import RushReport
from experiments.rush.scene import EPOCH, RUN, Scene
from experiments.rush.summary import Told, summarise
from experiments.rush.usage import Watch, watching
from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Patience
from fedperm.run_document import FrozenDocument
from fedperm.services import AGGREGATOR
from fedperm.wire.aggregator import KeyEpoch, RoundState
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes, RunningServer
from fedperm_cli.servers.sessions import Server

_PATIENCE = Patience(10.0)


def rush(scene: Scene, folder: Path) -> RushReport:
    """`folder` gets the aggregator's state and its log."""
    with _aggregator(scene, folder) as server, ExitStack() as drivers:
        asyncio.run(open_doors(scene, server.address))
        crowd, onlooker = (drivers.enter_context(_driver()) for _ in range(2))
        others = {"crowd": _pid(crowd), "onlooker": _pid(onlooker)}
        watch = Watch(server.pid, others)
        with watching(watch):
            looking = onlooker.submit(run_onlooker, scene, server.address)
            seen = crowd.submit(run_crowd, scene, server.address).result()
            looked = looking.result()
        watch.look()
        told = _ask(scene, server.address)
    return summarise(scene.setting, seen, looked, told, watch.usages)


@contextmanager
def _aggregator(scene: Scene, folder: Path) -> Iterator[RunningServer]:
    (folder / "operator").write_text(scene.operator)
    workers = scene.setting.workers
    with Processes(folder) as processes:
        launcher = Launcher(FederationFolder(folder), processes, insecure_for_tests=True)
        server = launcher.start_server(
            AGGREGATOR,
            operator_token_file=folder / "operator",
            **({} if workers is None else {"processes": workers}),
        )
        server.wait_until_ready()
        yield server


def _driver() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def _pid(driver: ProcessPoolExecutor) -> int:
    return driver.submit(os.getpid).result()


async def open_doors(scene: Scene, address: str) -> None:
    """A run that begins when all have joined."""
    async with Server(address, patience=_PATIENCE).connection() as connection:
        api = AggregatorApi(connection)
        await api.create_run(FrozenDocument(scene.document, scene.signature), scene.operator)
        await api.put_initial_model(RUN, scene.model, scene.operator)
        await api.put_key_epoch(RUN, EPOCH, KeyEpoch(record=scene.epoch_record), scene.operator)


def _ask(scene: Scene, address: str) -> Told:
    said = ask(Server(address, patience=_PATIENCE), scene.operator, RUN)
    published = {
        report.outcome.round: report.settled_at or 0.0
        for report in said.rounds
        if report.outcome.state is RoundState.PUBLISHED
    }
    return Told(published, said.metrics)
