"""Which code, on which machine."""

import os
import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from experiments.paper.records import Origin

_ROOT = Path(__file__).parents[2]
_MEASURED_CODE = ("experiments", "shared", "services", ":!experiments/results")
_LIBRARIES = ("dp-accounting", "gmpy2", "numpy", "torch")


@cache
def origin_here(command: str) -> Origin:
    return Origin(
        commit=_commit(),
        command=command,
        cores=os.cpu_count() or 1,
        processor=_processor(),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
    )


def command_line() -> str:
    """As it was typed, without a path of this machine."""
    arguments = [one for one in sys.argv[1:] if not Path(one).is_absolute()]
    return " ".join([".venv/bin/python -m experiments.paper", *arguments])


def _commit() -> str:
    """Without git, or outside of a work tree, nobody knows."""
    try:
        changed = _git("status", "--porcelain", "--", *_MEASURED_CODE)
        return _git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
