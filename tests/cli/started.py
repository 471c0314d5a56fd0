"""Starts `tests.cli.unruly`."""

from pathlib import Path

from fedperm_cli.federation.processes import Processes, RunningProcess

ROOT = Path(__file__).parents[2]


def start_unruly(
    processes: Processes, folder: Path, **environment: str
) -> tuple[RunningProcess, int]:
    """The process and the number of its child, once both run."""
    file = folder / "child"
    given = {"PYTHONPATH": str(ROOT), "CHILD_FILE": str(file), **environment}
    process = processes.start("unruly", "tests.cli.unruly", given)
    process.wait_until(lambda: file.exists() and bool(file.read_text()), 20, "has no child")
    return process, int(file.read_text())
