"""The accuracy results as pictures. Needs matplotlib."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from experiments.accuracy.experiment import Wish
from experiments.accuracy.report import Summaries, cost_summaries, record_summaries
from experiments.accuracy.rows import EPSILONS, FEDAVG, Row, Table, fedperm_row
from experiments.accuracy.setting import Algorithm
from experiments.accuracy.summary import Summary
from experiments.paper.pictures import save_svg
from fedperm_cli.drawing import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    VERMILION,
    add_grid,
    new_figure,
)
from fedperm_cli.presets import PAPER_EPSILON, Preset


def caption(found: Summaries) -> str:
    seeds = max((len(summary.seeds) for summary in found.values()), default=0)
    return (
        "MNIST, 15 clients, 50 rounds, softmax regression (d = 7,850), delta = 1e-5; "
        f"mean of {seeds} {'seed' if seeds == 1 else 'seeds'}"
    )


def lines_at(epsilon: float) -> dict[str, tuple[Row, str, str]]:
    """Label to row, colour and line style: what the paper compares, and our default accountant."""
    return {
        "FedAvg (no privacy)": (FEDAVG, GREY, "-"),
        "FedPerm heavy, default": (fedperm_row(Preset.HEAVY, "default", epsilon), BLUE, "-"),
        "FedPerm light, default": (fedperm_row(Preset.LIGHT, "default", epsilon), GREEN, "-"),
        "FedPerm heavy, paper": (fedperm_row(Preset.HEAVY, "paper", epsilon), BLUE, "--"),
        "FedPerm light, paper": (fedperm_row(Preset.LIGHT, "paper", epsilon), GREEN, "--"),
        "CDP-FL": (Row(Table.PAPER_UNIT, Wish(Algorithm.CDP, epsilon)), VERMILION, "-"),
        "LDP-FL": (Row(Table.PAPER_UNIT, Wish(Algorithm.LDP, epsilon)), PURPLE, "-"),
    }


def draw_by_epsilon(found: Summaries, path: Path) -> Path:
    figure = new_figure(
        f"{caption(found)}.\nEach algorithm's epsilon has a unit of its own: see the tables"
    )
    axes = figure.add_subplot()
    for label, (_, colour, style) in lines_at(PAPER_EPSILON).items():
        rows = [lines_at(epsilon)[label][0] for epsilon in EPSILONS]
        known = [(e, found[r.name]) for e, r in zip(EPSILONS, rows, strict=True) if r.name in found]
        axes.errorbar(
            [epsilon for epsilon, _ in known],
            [summary.mean for _, summary in known],
            [summary.deviation for _, summary in known],
            color=colour,
            linestyle=style,
            marker="o",
            markersize=4,
            capsize=3,
            label=label,
        )
    _epsilon_axis(axes, EPSILONS, "total epsilon")
    _dress(axes)
    return save_svg(figure, path)


def draw_by_round(found: Summaries, path: Path) -> Path:
    figure = new_figure(
        f"{caption(found)}.\nTotal epsilon {PAPER_EPSILON:g}, each algorithm's in a unit of its own"
    )
    axes = figure.add_subplot()
    for label, (row, colour, style) in lines_at(PAPER_EPSILON).items():
        if row.name in found:
            accuracies = found[row.name].mean_by_round
            rounds = range(1, len(accuracies) + 1)
            axes.plot(rounds, accuracies, color=colour, linestyle=style, label=label)
    axes.set(xlabel="round")
    _dress(axes)
    if legend := axes.get_legend():
        legend.set_loc((0.72, 0.16))  # between the lines
    return save_svg(figure, path)


def draw_by_record(found: Summaries, path: Path) -> Path:
    figure = new_figure(
        f"{caption(found)}.\nReplacing one record of the smallest client; no shuffle, no keys"
    )
    axes = figure.add_subplot()
    summaries = record_summaries(found)
    epsilons = [summary.row.wish.epsilon or 0.0 for summary in summaries]
    _draw_points(axes, summaries, epsilons, "FedPerm light")
    if summaries and FEDAVG.name in found:
        axes.axhline(found[FEDAVG.name].mean, color=GREY, label="FedAvg (no privacy)")
    _epsilon_axis(axes, epsilons, "total epsilon for one record")
    _dress(axes, low=None)
    return save_svg(figure, path)


def draw_by_cost(found: Summaries, path: Path) -> Path:
    figure = new_figure(
        f"{caption(found)}.\nEpsilon {PAPER_EPSILON:g} in the paper's unit; it shrinks as k1 grows"
    )
    axes = figure.add_subplot()
    summaries = cost_summaries(found)
    costs = [summary.upload_megabytes for summary in summaries]
    _draw_points(axes, summaries, costs, "FedPerm")
    for cost, summary in zip(costs, summaries, strict=True):
        geometry = summary.row.wish.geometry
        label = f"{geometry.k1}, {geometry.k2}"
        axes.annotate(label, (cost, summary.mean), (4, -12), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", xlabel="encrypted masks of a client, MB a round (labels: k1, k2)")
    axes.margins(x=0.1)
    _dress(axes, low=None)
    return save_svg(figure, path)


def _epsilon_axis(axes: Axes, epsilons: Sequence[float], label: str) -> None:
    axes.set(xscale="log", xlabel=label)
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_xticks([], minor=True)


def _draw_points(axes: Axes, summaries: list[Summary], places: list[float], label: str) -> None:
    axes.errorbar(
        places,
        [summary.mean for summary in summaries],
        [summary.deviation for summary in summaries],
        color=BLUE,
        marker="o",
        capsize=3,
        label=label,
    )


def _dress(axes: Axes, low: float | None = 0.0) -> None:
    axes.set(ylabel="test accuracy, %", ylim=(low, 100))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    add_grid(axes)
