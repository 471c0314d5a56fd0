"""The look that all pictures share. Needs matplotlib."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
"""Told apart by colour-blind readers (Okabe and Ito)."""

GREY = "#666666"


def new_figure(caption: str, width: float = 8, height: float = 5.2) -> Figure:
    """Made without pyplot: no global state, no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.supxlabel(caption, fontsize=9)
    return figure


def save(figure: Figure, path: Path) -> Path:
    figure.savefig(path, dpi=200)
    return path


def add_grid(axes: Axes) -> None:
    axes.grid(visible=True, which="major", alpha=0.35)
