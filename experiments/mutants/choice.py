"""Which tests are asked about a mutant, and in which order."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from experiments.mutants.mutant import Mutant
from experiments.mutants.survey import Surveyed
from experiments.mutants.targets import Target

MOST_SECONDS = 5.0
"""Of tests that are not at home: those of a line that every test runs would take minutes."""


class Choice:
    """Tests that noticed other mutants of the function come first, then the quickest."""

    def __init__(self, root: Path, surveyed: Sequence[Surveyed]) -> None:
        self._root = root
        self._surveyed = surveyed
        self._kills: Counter[tuple[str, str | None, str]] = Counter()

    def of(self, mutant: Mutant, target: Target) -> list[Surveyed]:
        """Those that run its line; if there is none, as for a change outside of functions, those
        that run any line of the module."""
        filename = str(self._root / mutant.path)
        own = [test for test in self._surveyed if test.node.startswith(target.tests)]
        concerned = [test for test in own if (filename, mutant.line) in test.lines]
        if mutant.function is None or not concerned:
            concerned = [test for test in own if any(file == filename for file, _ in test.lines)]
        concerned.sort(key=lambda test: (-self._kills[_key(mutant, test.node)], test.seconds))
        at_home = [test for test in concerned if test.node.startswith(target.homes)]
        others = [test for test in concerned if not test.node.startswith(target.homes)]
        return [*at_home, *_within(MOST_SECONDS, others)]

    def note(self, mutant: Mutant, killer: str) -> None:
        self._kills[_key(mutant, killer)] += 1


def _key(mutant: Mutant, node: str) -> tuple[str, str | None, str]:
    return mutant.path, mutant.function, node


def _within(seconds: float, tests: Sequence[Surveyed]) -> list[Surveyed]:
    spent = accumulate(test.seconds for test in tests)
    return [test for test, until in zip(tests, spent, strict=True) if until <= seconds]
