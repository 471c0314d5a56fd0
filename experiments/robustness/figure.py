"""Accuracy under attack, and what backdoors achieve, as dots. Needs matplotlib."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes

from experiments.paper.pictures import save_svg
from experiments.paper.records import ResultFile
from experiments.robustness.report import BACKDOORS, LABELS
from experiments.robustness.setting import IN_WORDS, USUAL_ATTACKERS, Attack, Defence, System
from experiments.robustness.summary import Cell, Summary, summary_of
from fedperm_cli.drawing import BLUE, GREEN, GREY, PURPLE, VERMILION, add_grid, new_figure

_TITLES = {
    System.LIGHT: "FedPerm light, epsilon 4 (paper's unit)",
    System.RECORD: "FedPerm light, record epsilon 2",
    System.FEDAVG: "FedAvg",
}
_LOOKS = {
    Defence.NONE: (GREY, "x"),
    Defence.PAPER: (VERMILION, "^"),
    Defence.CENTRED: (BLUE, "o"),
    Defence.CLIPPED: (BLUE, "v"),
    Defence.MEDIAN: (GREEN, "s"),
    Defence.TRIMMED: (PURPLE, "D"),
    Defence.KRUM: (VERMILION, "P"),
}


@dataclass(frozen=True)
class Row:
    """Of panels, one a system."""

    attacks: tuple[Attack, ...]
    axis: str
    value: Callable[[Cell], float]


_ROWS = (
    Row(tuple(Attack), "accuracy, %", lambda cell: cell.accuracy),
    Row(BACKDOORS, "backdoor success, %", lambda cell: cell.backdoor),
)


def draw(results: ResultFile, path: Path) -> Path:
    found = summary_of(results)
    caption = (
        f"{USUAL_ATTACKERS} of 15 clients are malicious; mean over seeds. No dot: all clients "
        "refused the average, or there is no such attack."
    )
    figure = new_figure(caption, width=11, height=6.8)
    heights = [len(row.attacks) for row in _ROWS]
    panels = figure.subplots(
        len(_ROWS), len(System), sharey="row", sharex=True, height_ratios=heights
    )
    for row, across in zip(_ROWS, panels, strict=True):
        for axes, system in zip(across, System, strict=True):
            _panel(axes, found, system, row)
    for axes, system in zip(panels[0], System, strict=True):
        axes.set_title(_TITLES[system], fontsize=10)
        axes.legend(fontsize=8, loc="lower center")
    return save_svg(figure, path)


def _panel(axes: Axes, found: Summary, system: System, row: Row) -> None:
    for defence in system.defences:
        colour, marker = _LOOKS[defence]
        dots = [
            (row.value(cell), row.attacks.index(attack))
            for attack in row.attacks
            if attack in system.attacks
            if (cell := found.cell(system, defence, attack, USUAL_ATTACKERS)) and not cell.stops
        ]
        label = "mean" if (system, defence) == (System.FEDAVG, Defence.NONE) else LABELS[defence]
        axes.plot(
            [x for x, _ in dots],
            [y for _, y in dots],
            color=colour,
            marker=marker,
            linestyle="none",
            markersize=7,
            markerfacecolor="none" if marker != "x" else colour,
            label=label,
        )
    axes.set_yticks(range(len(row.attacks)), [IN_WORDS[attack] for attack in row.attacks])
    axes.set_ylim(len(row.attacks) - 0.5, -0.5)
    axes.set_xlim(-3, 103)
    axes.set_xlabel(row.axis)
    add_grid(axes)
