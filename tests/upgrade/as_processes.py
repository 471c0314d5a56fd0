"""Finishes the deployment as an operator would: the servers' and the clients' own processes."""

from collections import defaultdict
from pathlib import Path

from fedperm.wire.aggregator import KeyEpoch, RoundReport, RunState
from fedperm.wire.digest import sha256_of
from fedperm_cli.audit.log import read_log
from fedperm_cli.federation.folder import make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.operation import Operators
from fedperm_cli.federation.processes import Processes, RunningProcess
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
        link = network.link(here.aggregator.address, no_faults)
        refusal = _refuse_newcomer(here)
        demo_summaries = _play_demo(here, link)
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
            refusal=refusal,
        )


def _refuse_newcomer(here: World) -> str:
    """All that it says."""
    (newcomer,) = _start(here, "demo", (NEWCOMER,))
    assert newcomer.wait(60) == 1
    return newcomer.log.read_text()


def _play_demo(here: World, link: str) -> dict[str, Summary]:
    """The open round is finished under its key; the next one is under another."""
    here.operate(lambda operators: operators.runs.api.stop("demo", operators.runs.token))
    clients = _start(here, "demo", OLD_CLIENTS, aggregator_url=link)
    here.wait_until(
        lambda: [one.outcome.state.is_settled for one in _rounds(here)] == [True, True],
        "end of the open round",
    )
    here.operate(_add_epoch)
    here.operate(lambda operators: operators.runs.api.resume("demo", operators.runs.token))
    return _finished(here, OLD_CLIENTS, clients)


async def _add_epoch(operators: Operators) -> None:
    keys, runs = operators.keys, operators.runs
    signed = await keys.api.create_epoch(KEY, NEW_EPOCH, keys.token)
    await runs.api.put_key_epoch("demo", NEW_EPOCH, KeyEpoch(record=signed.record), runs.token)


def _play(here: World, run: str, names: tuple[str, ...]) -> dict[str, Summary]:
    return _finished(here, names, _start(here, run, names))


def _start(here: World, run: str, names: tuple[str, ...], **settings: str) -> list[RunningProcess]:
    """Without a pin: nobody signed documents then."""
    here.run = run
    unpinned = {"operator_fingerprint": "", **settings}
    return [here.start_client(name, max_epsilon=1000, **unpinned) for name in names]


def _finished(
    here: World, names: tuple[str, ...], clients: list[RunningProcess]
) -> dict[str, Summary]:
    assert here.wait_for_end() is RunState.COMPLETED
    assert {client.wait(60) for client in clients} == {0}
    return {name: here.summary(name) for name in names}


def _rounds(here: World) -> tuple[RoundReport, ...]:
    return here.ask(lambda api: api.rounds(here.run, here.run_operator)).rounds
