"""Pictures as SVG: the same data give the same file. Needs matplotlib."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure


def save_svg(figure: Figure, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "fedperm"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
