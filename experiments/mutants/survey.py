"""Which test calls which function, how much time it takes, and whether it passes as things are."""

import json
import sys
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from types import FrameType

import pytest

from experiments.mutants.runs import Runs

_LOCALS = ".<locals>"


@dataclass(frozen=True)
class Surveyed:
    """`calls` are (file, outermost function); the seconds are of the processor, so that a busy
    machine makes no difference."""

    node: str
    passed: bool
    seconds: float
    calls: tuple[tuple[str, str], ...]


class Survey:
    """Watches this process while tests run in it."""

    def __init__(self, filenames: Collection[str]) -> None:
        self._filenames = frozenset(filenames)
        self._calls: set[tuple[str, str]] = set()
        self._passed = True

    def run(self, runs: Runs, nodes: Sequence[str]) -> list[Surveyed]:
        threading.settrace(self._watch)
        sys.settrace(self._watch)
        found, start = [], time.process_time()
        for node in runs.each(nodes):
            end = time.process_time()
            found.append(Surveyed(node, self._passed, end - start, tuple(sorted(self._calls))))
            self._calls, self._passed, start = set(), True, end
        return found

    def note(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and not report.failed

    def _watch(self, frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        if code.co_filename in self._filenames:
            self._calls.add((code.co_filename, code.co_qualname.partition(_LOCALS)[0]))


def written(found: Sequence[Surveyed]) -> str:
    return json.dumps([asdict(test) for test in found])


def read(text: str) -> list[Surveyed]:
    return [
        Surveyed(**{**test, "calls": tuple((file, name) for file, name in test["calls"])})
        for test in json.loads(text)
    ]
