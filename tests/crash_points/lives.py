"""What a newborn process does: it is one of the three programs, until it ends or is killed.

The programs are the real ones. Only their clocks and the aggregator's workers are replaced.
"""

import importlib
import os
from pathlib import Path
from types import ModuleType

from fedperm.workers import Workers
from fedperm_aggregator.jobs.pool import EXECUTORS
from tests.crash_points.paced import Dial, PacedExecutor, ShiftedClock

PACE, TOLL = "pace", "toll"
PACED = "paced"
"""The scheme of the aggregator's workers."""


def program(name: str) -> ModuleType:
    return importlib.import_module(f"{name}.__main__")


def live(name: str, folder: Path) -> int:
    """Its exit code. A command beside a program comes with its arguments."""
    command, *arguments = name.split()
    module = importlib.import_module(command) if arguments else program(command)
    vars(module)["SystemClock"] = lambda: ShiftedClock.within(folder)
    EXECUTORS.register(PACED, lambda _spec: _workers(folder))
    code: int = module.main(arguments) if arguments else module.main()
    return code


def _workers(folder: Path) -> Workers:
    clock = ShiftedClock.within(folder)
    return Workers(PacedExecutor(Dial(folder / PACE), Dial(folder / TOLL), clock), 2)


def become(environment: dict[str, str], log: Path) -> None:
    """Of the parent's environment nothing of ours is left, and what it says goes to its log."""
    for name in [name for name in os.environ if name.startswith("FEDPERM_")]:
        del os.environ[name]
    os.environ.update(environment)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    os.close(0)
