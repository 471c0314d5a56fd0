"""Which test runs which lines, how much time it takes, and whether it passes as things are."""

import json
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Any

import pytest

from experiments.mutants.runs import Runs

_Trace = Callable[[FrameType, str, object], Any]


@dataclass(frozen=True)
class Surveyed:
    """`lines` are (file, number); the seconds are of the processor, so that a busy machine makes
    no difference."""

    node: str
    passed: bool
    seconds: float
    lines: frozenset[tuple[str, int]]


class Survey:
    """Watches this process while tests run in it."""

    def __init__(self, filenames: Collection[str]) -> None:
        self._filenames = frozenset(filenames)
        self._lines: set[tuple[str, int]] = set()
        self._passed = True

    def run(self, runs: Runs, nodes: Sequence[str]) -> list[Surveyed]:
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        found, start = [], time.process_time()
        for node in runs.each(nodes):
            end = time.process_time()
            found.append(Surveyed(node, self._passed, end - start, frozenset(self._lines)))
            self._lines, self._passed, start = set(), True, end
        return found

    def note(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and not report.failed

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> _Trace | None:
        return self._step if frame.f_code.co_filename in self._filenames else None

    def _step(self, frame: FrameType, _event: str, _argument: object) -> _Trace:
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._step


def written(found: Sequence[Surveyed]) -> str:
    return json.dumps([{**asdict(test), "lines": sorted(test.lines)} for test in found])


def read(text: str) -> list[Surveyed]:
    return [
        Surveyed(**{**test, "lines": frozenset((file, line) for file, line in test["lines"])})
        for test in json.loads(text)
    ]
