"""`python -m experiments.paper`: measure, keep, draw and write up what the results document shows.

Stop it with Ctrl-C; the same command goes on where it was.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from experiments.accuracy.tuning import trials
from experiments.paper.execution import execute, missing
from experiments.paper.measurement import Measurement
from experiments.paper.progress import shown
from experiments.paper.records import COMMITTED
from fedperm.errors import FedPermError


def main() -> int:
    asked = _parser().parse_args()
    console = Console(stderr=True)
    folder = Path("out/paper") if asked.quick else COMMITTED
    try:
        _measure(trials(quick=asked.quick), folder, asked, console)
    except KeyboardInterrupt:
        console.print("stopped; the same command goes on from here")
        return 130
    except FedPermError as error:
        console.print(f"{error.message}\n{error.hint}")
        return 1
    return 0


def _measure(
    plan: Sequence[Measurement], folder: Path, asked: argparse.Namespace, console: Console
) -> None:
    todo = missing(plan, folder)
    console.print(f"{len(plan) - len(todo)} of {len(plan)} measured before; results in {folder}")
    with shown(todo, console) as watch:
        execute(todo, folder, asked.data, asked.processes, watch)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="experiments.paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows and seeds, to out/paper")
    parser.add_argument("--tune", action="store_true", help="the trials on held-back images")
    parser.add_argument("--processes", type=int, default=2)
    data = Path(os.environ.get("FEDPERM_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="holds the folder mnist/")
    return parser


if __name__ == "__main__":
    sys.exit(main())
