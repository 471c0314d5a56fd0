"""The sweep, its numbers in a file, and the pictures drawn from that file."""

from pathlib import Path

from fedperm_cli.bench.experiment import PreparedKey
from fedperm_cli.bench.measurement import Instruments
from fedperm_cli.bench.settings import Settings
from fedperm_cli.bench.sweep import Grid, run_sweep, sweep_from_json

NUMBERS = "sweep.json"


def illustrate(
    settings: Settings,
    prepared: PreparedKey,
    instruments: Instruments,
    directory: Path,
    grid: Grid | None = None,
) -> bool:
    """Whether every sum of the sweep was exact."""
    sweep = run_sweep(grid or Grid(), settings, prepared, instruments)
    (directory / NUMBERS).write_text(sweep.to_json() + "\n")
    draw_from(directory)
    return sweep.exact


def draw_from(directory: Path) -> list[Path]:
    """The pictures of the numbers that lie in the directory."""
    from fedperm_cli.bench.figures import draw_figures  # noqa: PLC0415  (needs matplotlib)

    return draw_figures(sweep_from_json((directory / NUMBERS).read_text()), directory)
