"""The noise that each accountant asks for. Needs matplotlib."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from fedperm_cli.drawing import BLUE, GREEN, GREY, VERMILION, add_grid, new_figure
from fedperm_cli.presets import PAPER_DELTA, PAPER_EPSILON, PAPER_ROUNDS, Preset
from fedperm_cli.privacy.scales import Scale

UNSHUFFLED, DEFAULT = "no-shuffle-rdp", "default"


def draw_scales(scales: Sequence[Scale]) -> Figure:
    """Bars from much noise to little, light beside heavy."""
    figure = new_figure(_caption(), width=12.5, height=5.6)
    for axes, preset in zip(figure.subplots(1, len(Preset), sharex=True), Preset, strict=True):
        _draw_preset(axes, [scale for scale in scales if scale.preset is preset])
    return figure


def _caption() -> str:
    return (
        f"Laplace scale b for a total of epsilon {PAPER_EPSILON:g} at delta {PAPER_DELTA:g} over "
        f"{PAPER_ROUNDS} rounds; this epsilon protects one superwindow per pattern of one update, "
        "all others known.\n"
        "Less noise is more accurate, and less privacy for everything else: beside each bar, the "
        "epsilon of a whole update at the same delta.\n"
        "Red: the paper's chain. Blue: one tight composition. Green: what fedperm uses unless told "
        "otherwise. Dotted: proved here, not published. Hatched: experimental, not proved."
    )


def _draw_preset(axes: Axes, scales: Sequence[Scale]) -> None:
    bars = sorted(scales, key=lambda scale: (-scale.laplace_scale, scale.accountant))
    for position, scale in enumerate(bars):
        _draw_bar(axes, position, scale)
        _write_beside(axes, position, f"{math.ceil(scale.whole_update_epsilon):,}")
        if scale.accountant == UNSHUFFLED:
            axes.axvline(scale.laplace_scale, color=GREY, linestyle="--", linewidth=1.3)
    _write_beside(axes, -0.95, "whole update:\nepsilon")
    axes.set_yticks(range(len(bars)), labels=[_name(scale) for scale in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    _dress(axes, bars[0])


def _draw_bar(axes: Axes, position: int, scale: Scale) -> None:
    axes.barh(
        position,
        scale.laplace_scale,
        color=_colour(scale),
        alpha=0.55 if scale.experimental else 1.0,
        hatch=_hatch(scale),
        edgecolor="white",
        height=0.7,
        zorder=2,
    )
    axes.annotate(
        f"{scale.laplace_scale:.4g}",
        (scale.laplace_scale, position),
        xytext=(5, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _write_beside(axes: Axes, position: float, text: str) -> None:
    """In a column to the right of the bars."""
    axes.text(
        1.17,
        position,
        text,
        transform=axes.get_yaxis_transform(),
        horizontalalignment="right",
        verticalalignment="center",
    )


def _colour(scale: Scale) -> str:
    if scale.accountant == UNSHUFFLED:
        return GREY
    if scale.accountant == DEFAULT:
        return GREEN
    return VERMILION if scale.accountant.startswith("paper") else BLUE


def _hatch(scale: Scale) -> str | None:
    if scale.experimental:
        return "///"
    return None if scale.published else ".."


def _name(scale: Scale) -> str:
    if scale.accountant == UNSHUFFLED:
        return "no shuffling"
    if scale.experimental:
        return f"{scale.accountant}\n(experimental)"
    return scale.accountant if scale.published else f"{scale.accountant}\n(own proof)"


def _dress(axes: Axes, scale: Scale) -> None:
    geometry = scale.preset.geometry
    axes.set_xscale("log")
    axes.set_xlim(0.3, 1000)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlabel("Laplace scale b")
    axes.set_title(
        f"{scale.preset}: k1 = {geometry.k1}, k2 = {geometry.k2}\n"
        f"for {scale.parameters} of {geometry.d:,} parameters",
    )
    add_grid(axes)
    axes.set_axisbelow(True)
