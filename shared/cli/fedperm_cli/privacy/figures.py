"""All pictures of `fedperm privacy --figures`. Needs matplotlib."""

from pathlib import Path

from fedperm_cli.drawing import save
from fedperm_cli.privacy.amplification_figures import draw_patterns, draw_sizes
from fedperm_cli.privacy.figure_numbers import Numbers
from fedperm_cli.privacy.scale_figure import draw_scales


def draw_figures(numbers: Numbers, directory: Path) -> list[Path]:
    return [
        save(draw_patterns(numbers.curves), directory / "amplification-against-k1-and-k2.png"),
        save(draw_sizes(numbers.curves), directory / "amplification-against-d.png"),
        save(draw_scales(numbers.scales), directory / "noise-by-accountant.png"),
    ]
