"""Which tests are asked about a mutant, and in which order."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.mutants.mutant import Mutant
from experiments.mutants.survey import Surveyed
from experiments.mutants.targets import Target

MOST_SECONDS = 10.0
"""Of tests per mutant: those of a line that every test runs would take minutes."""


class Choice:
    """Tests that noticed other mutants of the function come first, then those of all files in turn,
    the quickest of each first."""

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
        in_turn = _in_turn(concerned)
        in_turn.sort(key=lambda test: -self._kills[_key(mutant, test.node)])
        return _within(MOST_SECONDS, in_turn)

    def note(self, mutant: Mutant, killer: str) -> None:
        self._kills[_key(mutant, killer)] += 1


def _key(mutant: Mutant, node: str) -> tuple[str, str | None, str]:
    return mutant.path, mutant.function, node


def _in_turn(tests: Sequence[Surveyed]) -> list[Surveyed]:
    turns: Counter[str] = Counter()
    ranked = []
    for test in sorted(tests, key=lambda test: test.seconds):
        file = test.node.partition("::")[0]
        turns[file] += 1
        ranked.append((turns[file], test))
    return [test for _, test in sorted(ranked, key=lambda pair: pair[0])]


def _within(seconds: float, tests: Sequence[Surveyed]) -> list[Surveyed]:
    chosen: list[Surveyed] = []
    for test in tests:
        if chosen and test.seconds > seconds:
            break
        seconds -= test.seconds
        chosen.append(test)
    return chosen
