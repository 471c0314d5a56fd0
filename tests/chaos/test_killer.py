"""The killer kills whom it says, brings everybody back, and notices who has ended by itself. Its
victims are processes that do nothing."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from fedperm_cli.federation.processes import Processes, RunningProcess
from tests.chaos import killer as chaos
from tests.chaos.killer import GaveUpError, Killer, Party

IDLE = "import signal\nsignal.pause()\n"


class Idlers:
    """What the killer needs of a federation: two servers, two clients, and a worker process."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        (folder / "idle.py").write_text(IDLE)
        self._environment = {"PYTHONPATH": str(folder)}
        self._processes = processes
        self.world = SimpleNamespace(
            key_server=self._start("key-server"), aggregator=self._start("aggregator")
        )
        self.members = [SimpleNamespace(process=self._start(f"client-{n}")) for n in range(2)]
        self.worker = subprocess.Popen([sys.executable, "-c", IDLE])

    def _start(self, name: str) -> RunningProcess:
        return self._processes.start(name, "idle", self._environment)

    def workers(self) -> list[int]:
        return [self.worker.pid] if self.worker.poll() is None else []

    @property
    def all(self) -> list[RunningProcess]:
        return [
            self.world.key_server,
            self.world.aggregator,
            *(member.process for member in self.members),
        ]


@pytest.fixture
def idlers(tmp_path: Path) -> Iterator[Idlers]:
    with Processes(tmp_path) as processes:
        idlers = Idlers(processes, tmp_path)
        yield idlers
        idlers.worker.kill()
        idlers.worker.wait()


def killer_of(idlers: Idlers, told: list[Party], seed: int = 3) -> Killer:
    """There is always something going on."""
    requests = count(step=chaos.MOST_REQUESTS)
    return Killer(idlers, Random(seed), lambda: next(requests), told.append)  # type: ignore[arg-type]


def test_everybody_is_killed_once_and_back_at_the_end(
    idlers: Idlers, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chaos, "LONGEST_ABSENCE_SECONDS", 0.2)
    before, told = [process.pid for process in idlers.all], []
    killer = killer_of(idlers, told)
    killer.kill(len(Party))
    killer.check()
    assert killer.kills == dict.fromkeys(Party, 1)
    assert sorted(told) == sorted(Party)
    assert idlers.worker.wait(60) == -signal.SIGKILL
    after = [process.pid for process in idlers.all]
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 3
    assert all(process.poll() is None for process in idlers.all)


def test_who_ended_by_itself_has_given_up(idlers: Idlers):
    killer = killer_of(idlers, [])
    killer.check()
    process = idlers.members[1].process
    process.ask_to_stop()
    process.wait(60)
    with pytest.raises(GaveUpError, match="client-1 ended with exit code -15"):
        killer.kill(1)


def test_who_is_not_there_is_not_waited_for_for_ever(
    idlers: Idlers, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chaos, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(chaos, "WEIGHTS", {Party.WORKER: 1})
    idlers.worker.kill()
    idlers.worker.wait()
    with pytest.raises(GaveUpError, match="there is no worker process to kill"):
        killer_of(idlers, []).kill(len(Party) + 1)
