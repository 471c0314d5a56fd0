"""A mutant and the tests that are asked about it, in a process of their own."""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from experiments.mutants.forks import in_fork
from experiments.mutants.mutant import Mutant
from experiments.mutants.results import Fate, Result
from experiments.mutants.runs import Runs
from experiments.mutants.survey import Surveyed
from experiments.mutants.swap import LiveFunctions
from experiments.mutants.targets import OURS

PYTEST = (
    *("-p", "experiments.mutants.few_examples", "--hypothesis-profile", "mutants"),
    *("-p", "no:cacheprovider", "-p", "no:terminal", "-s"),
    *("-k", "not postgresql", "-m", "not docker"),
    *("--override-ini", "addopts=", "--override-ini", "tmp_path_retention_policy=none"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_KILLER = Path("killer.txt")
_SLOWER = 30.0
"""So many times longer than usual, and so many seconds more, a mutant may take."""
_PATIENCE_SECONDS = 60.0
_EXPECTED = 3
"""Tests; one after those that fails is run again: for want of time a test may fail by itself, and
a mutant that survives meets many."""
_NEEDS_IMPORT = 17
"""Exit status of a fork that could not take the mutant in."""
_FATES = {0: Fate.SURVIVED, None: Fate.TIMEOUT}


class Trials:
    """`on_report` says who is told what became of each test."""

    def __init__(
        self,
        root: Path,
        runs: Runs,
        live: LiveFunctions,
        on_report: Callable[[Callable[[pytest.TestReport], None]], None],
    ) -> None:
        self._root = root
        self._runs = runs
        self._live = live
        self._on_report = on_report

    def of(self, mutant: Mutant, asked: Sequence[Surveyed]) -> Result:
        path = self._root / mutant.path
        original = path.read_text()
        start = time.perf_counter()
        _KILLER.write_text("")
        path.write_text(mutant.source)  # for the processes that tests start
        try:
            fate = self._fate(mutant, asked) if asked else Fate.SURVIVED
        finally:
            path.write_text(original)
        seconds = time.perf_counter() - start
        return Result.of(mutant, fate, _KILLER.read_text(), len(asked), seconds)

    def _fate(self, mutant: Mutant, asked: Sequence[Surveyed]) -> Fate:
        limit = _PATIENCE_SECONDS + _SLOWER * sum(test.seconds for test in asked)
        nodes = [test.node for test in asked]
        status = self._status(mutant, nodes, limit)
        killer = _KILLER.read_text()
        if killer in nodes[_EXPECTED:]:
            status = self._status(mutant, nodes[nodes.index(killer) :], limit)
        return _FATES.get(status, Fate.KILLED)

    def _status(self, mutant: Mutant, nodes: list[str], limit: float) -> int | None:
        _KILLER.write_text("")
        status: int | None = _NEEDS_IMPORT
        if mutant.function is not None:
            status = in_fork(partial(self._swapped, mutant, nodes), limit)
        return in_fork(partial(_afresh, nodes), limit) if status == _NEEDS_IMPORT else status

    def _swapped(self, mutant: Mutant, nodes: list[str]) -> int:
        if not self._live.take_in(mutant, str(self._root / mutant.path)):
            return _NEEDS_IMPORT
        self._on_report(_note_failure)
        return int(any(_KILLER.read_text() for _ in self._runs.each(nodes)))


class _Noting:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        _note_failure(report)


def _note_failure(report: pytest.TestReport) -> None:
    if report.failed:
        _KILLER.write_text(report.nodeid)


def _afresh(nodes: Sequence[str]) -> int:
    """Everything of ours is imported again, libraries are not."""
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    arguments = [*PYTEST, "--basetemp", "temporary-afresh", "-x", *nodes]
    return int(pytest.main(arguments, plugins=[_Noting()]))
