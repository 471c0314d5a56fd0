"""`python -m experiments.paper`: measure, keep, draw and write up what the results document shows.

Stop it with Ctrl-C; the same command goes on where it was. Without options it measures what is
missing in the committed results; elsewhere it says how its accuracies compare with those.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from experiments.accuracy.measured import seeds
from experiments.accuracy.tuning import trials
from experiments.paper.comparison import compared
from experiments.paper.execution import execute, forget_other_code, forget_other_plans, missing
from experiments.paper.measurement import Measurement
from experiments.paper.plan import PARTS, measurements
from experiments.paper.progress import shown
from experiments.paper.records import COMMITTED, read
from experiments.paper.writing import write_up
from fedperm.errors import FedPermError


@dataclass(frozen=True)
class Places:
    results: Path
    documents: Path

    @classmethod
    def of(cls, *, quick: bool, again: bool) -> "Places":
        if quick or again:
            folder = Path("out", "paper-quick" if quick else "paper-again")
            return cls(folder, folder)
        return cls(COMMITTED, COMMITTED.parents[1] / "docs")


def main() -> int:
    asked = _parser().parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs ignore the first
        signal.signal(stop, signal.default_int_handler)
    places, console = Places.of(quick=asked.quick, again=asked.again), Console(stderr=True)
    try:
        if not asked.report:
            _measure(_plan(asked), places.results, asked, console)
        if not asked.tune:
            path = write_up(places.results, places.documents, seeds(quick=asked.quick))
            console.print(f"written: {path}")
        if places.results != COMMITTED:
            _compare(places.results, console)
    except KeyboardInterrupt:
        console.print("stopped; the same command goes on from here")
        return 130
    except FedPermError as error:
        console.print(f"{error.message}\n{error.hint}")
        return 1
    return 0


def _plan(asked: argparse.Namespace) -> Sequence[Measurement]:
    if asked.tune:
        return trials()
    return measurements(quick=asked.quick, only=asked.only)


def _measure(
    plan: Sequence[Measurement], results: Path, asked: argparse.Namespace, console: Console
) -> None:
    if results != COMMITTED:
        forget_other_code(plan, results)
    forget_other_plans(plan, results)
    todo = missing(plan, results)
    console.print(f"{len(plan) - len(todo)} of {len(plan)} measured before; results in {results}")
    with shown(todo, console) as watch:
        execute(todo, results, asked.data, asked.processes, watch)


def _compare(folder: Path, console: Console) -> None:
    """What has a seed should come out as it did before, on whatever machine."""
    for part in ("tuning", "accuracy", "robustness"):
        found = compared(read(folder, part), read(COMMITTED, part))
        if found is not None:
            console.print(f"{part}: {found.in_words}", highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="experiments.paper", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--quick", action="store_true", help="few rows, to out/paper-quick")
    where.add_argument("--again", action="store_true", help="all anew, to out/paper-again")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--tune", action="store_true", help="only the trials on held-back images")
    what.add_argument("--report", action="store_true", help="only write up what was measured")
    what.add_argument("--only", nargs="+", choices=PARTS, help="only these parts")
    parser.add_argument("--processes", type=int, default=2)
    data = Path(os.environ.get("FEDPERM_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="holds the folder mnist/")
    return parser


if __name__ == "__main__":
    sys.exit(main())
