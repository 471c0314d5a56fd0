"""One pytest session in which all mutants are tried: tests are imported and collected once, and
every mutant gets a fork of that. `python -m experiments.mutants.session`, inside a copied tree.
"""

import argparse
import gc
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from experiments.mutants.choice import Choice
from experiments.mutants.forks import in_fork
from experiments.mutants.mutations import mutants_of
from experiments.mutants.runs import Runs
from experiments.mutants.survey import Survey, Surveyed, read, written
from experiments.mutants.swap import LiveFunctions
from experiments.mutants.targets import LEFT_OUT, TARGETS, Target
from experiments.mutants.trials import PYTEST, Trials

_SURVEYED = Path("surveyed.json")
_SURVEY_SECONDS = 3600.0


class MutantLoop:
    """Takes the place of pytest's own loop over the tests."""

    def __init__(self, root: Path, targets: Sequence[Target], output: Path) -> None:
        self._root = root
        self._targets = targets
        self._output = output
        self._filenames = {str(root / target.path) for target in targets}
        self._listener: Callable[[pytest.TestReport], None] = lambda _: None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._listener(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        runs = Runs(session.items)
        runs.warm_up()
        live = LiveFunctions(self._filenames)
        gc.freeze()  # forks share what is there already
        choice = Choice(self._root, self._passing(runs))
        trials = Trials(self._root, runs, live, self._listen)
        with self._output.open("a", buffering=1) as output:
            for target in self._targets:
                for mutant in mutants_of(target.path, (self._root / target.path).read_text()):
                    result = trials.of(mutant, choice.of(mutant, target))
                    choice.note(mutant, result.killer)
                    output.write(result.as_json() + "\n")
        return True

    def _listen(self, listener: Callable[[pytest.TestReport], None]) -> None:
        self._listener = listener

    def _passing(self, runs: Runs) -> list[Surveyed]:
        """One that fails as things are would seem to notice mutants."""
        found = self._survey(runs, runs.nodes)
        for test in found:
            if not test.passed:
                sys.stderr.write(f"fails without a mutant, is not asked: {test.node}\n")
        return [test for test in found if test.passed]

    def _survey(self, runs: Runs, nodes: Sequence[str]) -> list[Surveyed]:
        def survey() -> int:
            watching = Survey(self._filenames)
            self._listen(watching.note)
            _SURVEYED.write_text(written(watching.run(runs, nodes)))
            return 0

        if in_fork(survey, _SURVEY_SECONDS) != 0:
            sys.exit("the tests could not be run without a mutant")
        return read(_SURVEYED.read_text())


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends its forks too
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("modules", nargs="+")
    given = parser.parse_args()
    targets = [target for target in TARGETS if target.name in given.modules]
    tests = sorted({folder for target in targets for folder in target.tests})
    left_out = [f"--ignore={path}" for path in LEFT_OUT]
    arguments = [*PYTEST, "--basetemp", "temporary", *left_out, *tests]
    return int(pytest.main(arguments, plugins=[MutantLoop(Path.cwd(), targets, given.output)]))


if __name__ == "__main__":
    sys.exit(main())
