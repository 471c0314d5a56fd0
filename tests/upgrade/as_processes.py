"""Finishes the deployment as an operator would: the servers' and the clients' own processes."""

from collections import defaultdict
from pathlib import Path

from fedperm.wire.aggregator import KeyEpoch, RoundReport, RunState
from fedperm.wire.digest import sha256_of
from fedperm_cli.federation.folder import make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.operation import Operators
from fedperm_cli.federation.processes import Processes
from fedperm_cli.keys.audit import read_log
from fedperm_client.summary import Summary
from tests.chaos.faults import Fault, RequestLine, no_faults
from tests.chaos.network import Network
from tests.chaos.upload_witness import slot_of
from tests.federation.world import KEY, World
from tests.upgrade.ending import NEW_EPOCH, NEWCOMER, OF_SEALED, OLD_CLIENTS, Ending, unpack


class UploadDigests:
    """Of all that leaves clients, as seen on the wire."""

    def __init__(self) -> None:
        self.seen: defaultdict[tuple[str, int], set[str]] = defaultdict(set)

    def sent(self, request: RequestLine, body: bytes) -> None:
        slot = slot_of(request)
        if slot is not None:
            self.seen[slot.client, slot.round].add(sha256_of(body))

    def answered(self, request: RequestLine, status: int) -> None:
        pass

    def met(self, fault: Fault) -> None:
        pass


def finish(path: Path) -> Ending:
    """Operators' tokens are settings and not state: they are new."""
    folder = make_folder(path)
    unpack(folder.path)
    uploads = UploadDigests()
    with Processes(folder.logs) as processes, Network(uploads) as network:
        here = World(Launcher(folder, processes, insecure_for_tests=True))
        here.operate(_add_epoch)
        link = network.link(here.aggregator.address, no_faults)
        demo_summaries = _play(here, "demo", (*OLD_CLIENTS, NEWCOMER), aggregator_url=link)
        demo = _rounds(here)
        sealed_summaries = _play(here, "sealed", OF_SEALED)
        return Ending(
            folder=folder.path,
            demo=demo,
            demo_summaries=demo_summaries,
            sealed=_rounds(here),
            sealed_summaries=sealed_summaries,
            uploads=dict(uploads.seen),
            audit=here.operate(lambda operators: read_log(operators.keys)),
        )


async def _add_epoch(operators: Operators) -> None:
    keys, runs = operators.keys, operators.runs
    signed = await keys.api.create_epoch(KEY, NEW_EPOCH, keys.token)
    await runs.api.put_key_epoch("demo", NEW_EPOCH, KeyEpoch(record=signed.record), runs.token)


def _play(here: World, run: str, names: tuple[str, ...], **settings: str) -> dict[str, Summary]:
    here.run = run
    clients = [here.start_client(name, max_epsilon=1000, **settings) for name in names]
    assert here.wait_for_end() is RunState.COMPLETED
    assert {client.wait(60) for client in clients} == {0}
    return {name: here.summary(name) for name in names}


def _rounds(here: World) -> tuple[RoundReport, ...]:
    return here.ask(lambda api: api.rounds(here.run, here.run_operator)).rounds
