"""Bits of a secret permutation that a deviating aggregator learns in a round of the demo.

    .venv/bin/python -m experiments.report_oracle

prints them, and writes experiments/results/report-oracle.json.
"""

import json
from pathlib import Path

import torch

from experiments.report_oracle.measured import Figures, measure
from experiments.report_oracle.scene import demo_scene
from fedperm_cli.demo.options import DemoOptions

RESULT = Path(__file__).parents[1] / "results" / "report-oracle.json"
SEED = 20230814


def lines(figures: Figures) -> list[str]:
    return [
        f"{figures.clients} clients, windows of {figures.positions}, "
        f"noise b = {figures.laplace_scale:.4g}; bits of one pattern's permutation in a round",
        f"all there is             {figures.whole:8.2f}  ({figures.one_place:.2f} for one column)",
        *(
            f"loss in the clear        {bits:8.2f}  asking about {columns} column(s) at once"
            for columns, bits in figures.loss.items()
        ),
        f"accuracy in the clear    {figures.accuracy:8.2f}  asking about 1 column",
        f"sealed reports (default) {figures.sealed:8.2f}",
        f"the next uploads         {figures.next_uploads:8.2f}  of all clients together, asking "
        "about 1 column",
    ]


def main() -> None:
    torch.set_num_threads(1)
    figures = measure(demo_scene(DemoOptions()), SEED)
    print(*lines(figures), sep="\n")
    RESULT.write_text(json.dumps(figures.model_dump(mode="json"), indent=2) + "\n")


if __name__ == "__main__":
    main()
