"""The document and its pictures, from the files of a folder."""

from collections.abc import Sequence
from pathlib import Path

from experiments.accuracy import figures
from experiments.accuracy.summary import summaries
from experiments.paper.document import results_document
from experiments.paper.records import read
from experiments.robustness import figure as robustness
from experiments.timing import figures as timing

_PICTURES = {
    "accuracy-by-epsilon": figures.draw_by_epsilon,
    "accuracy-by-round": figures.draw_by_round,
    "accuracy-by-record-epsilon": figures.draw_by_record,
    "accuracy-by-cost": figures.draw_by_cost,
}


def write_up(results: Path, documents: Path, seeds: Sequence[int]) -> Path:
    """results.md, with the folder pictures/ beside it."""
    found = summaries(read(results, "accuracy"), seeds)
    for name, draw in _PICTURES.items():
        draw(found, documents / "pictures" / f"{name}.svg")
    if (attacked := read(results, "robustness")).records:
        robustness.draw(attacked, documents / "pictures" / "robustness.svg")
    timing.draw(read(results, "timing"), documents / "pictures")
    path = documents / "results.md"
    path.write_text(results_document(results, seeds))
    return path
