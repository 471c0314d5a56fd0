"""The paper's four timing figures with ours in them. Needs matplotlib."""

from pathlib import Path

from experiments.paper.pictures import save_svg
from experiments.paper.records import ResultFile
from experiments.timing.report import sweep_in
from fedperm_cli.bench.figures import figure_of
from fedperm_cli.bench.sweep import Axis


def draw(results: ResultFile, folder: Path) -> list[Path]:
    """None before the sweep was measured."""
    sweep = sweep_in(results)
    if sweep is None:
        return []
    return [
        save_svg(figure_of(sweep, axis), folder / f"time-against-{axis.value}.svg") for axis in Axis
    ]
