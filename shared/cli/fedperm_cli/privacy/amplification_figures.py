"""The paper's two privacy figures. Needs matplotlib."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fedperm_cli.drawing import BLUE, GREEN, GREY, PURPLE, VERMILION, add_grid, new_figure
from fedperm_cli.presets import PAPER_DELTA
from fedperm_cli.privacy.amplification import Curve, Varied

COLOURS = (BLUE, VERMILION, GREEN, PURPLE)

LABELS = {Varied.K1: "$k_1$", Varied.K2: "$k_2$", Varied.D: "$d$"}

TITLES = {
    Varied.K1: "Shuffling more positions  ($d$ = 7,850, $k_2$ = 1)",
    Varied.K2: "Shuffling with more patterns  ($d$ = 7,850, $k_1$ = 100)",
    Varied.D: "Amplification for larger models  ($k_1$ = 100, $k_2$ = 10)",
}

UNIT = (
    r"$\varepsilon_\ell$ protects the parameters counted in the legend, one superwindow per "
    "pattern of one update, all others known,",
    rf"in one round, at $\delta_\ell$ = {PAPER_DELTA:g}.",
)
BOUNDS = (
    "Solid: Bennett's inequality for Laplace noise and strong composition over $k_2$, as in the "
    "paper, up to where its theorem ends (dot).",
    "Dotted: no amplification, the permutation being known; where this is lower, it is the better "
    "bound.",
)


def draw_patterns(curves: Sequence[Curve]) -> Figure:
    """For k1 and for k2, against the epsilon of the whole update."""
    unit = " ".join([*UNIT, r"The whole update has only $\varepsilon_d$."])
    figure = new_figure("\n".join([unit, *BOUNDS]), width=11.5)
    positions, patterns = figure.subplots(1, 2)
    for axes, varied in ((positions, Varied.K1), (patterns, Varied.K2)):
        for curve, colour in zip(_varying(curves, varied), COLOURS, strict=False):
            _draw_curve(axes, curve, colour, [point.epsilon_d for point in curve.points])
        _dress(axes, varied, r"$\varepsilon_d$ of the whole update, before shuffling")
    positions.set(xscale="log", yscale="log")
    patterns.set(xlim=(0, 150), ylim=(0, 0.9))  # on logarithmic axes these look like one curve
    return figure


def draw_sizes(curves: Sequence[Curve]) -> Figure:
    """For d, against the epsilon of one parameter: against epsilon_d the curves are the same."""
    whole = r"The whole update has only $\varepsilon_d = d\,\varepsilon_{wd}$."
    figure = new_figure("\n".join([UNIT[0], f"{UNIT[1]} {whole}", *BOUNDS]), width=9, height=5.8)
    axes = figure.add_subplot()
    for curve, colour in zip(_varying(curves, Varied.D), COLOURS, strict=False):
        _draw_curve(axes, curve, colour, [point.epsilon_d / curve.d for point in curve.points])
    axes.set(xscale="log", yscale="log")
    _dress(axes, Varied.D, r"$\varepsilon_{wd} = 1/b$ of one parameter, before shuffling")
    return figure


def _varying(curves: Sequence[Curve], varied: Varied) -> list[Curve]:
    return [curve for curve in curves if curve.varied is varied]


def _draw_curve(axes: Axes, curve: Curve, colour: str, positions: list[float]) -> None:
    shuffled = [point.epsilon_l for point in curve.points]
    known = [point.permutation_known for point in curve.points]
    label = f"{LABELS[curve.varied]} = {curve.value:,}: {curve.parameters:,} parameters"
    axes.plot(positions, shuffled, color=colour, linewidth=2, label=label)
    axes.plot(positions[-1:], shuffled[-1:], color=colour, marker="o", markersize=5)
    axes.plot(positions, known, color=colour, linewidth=1.3, linestyle=":")


def _dress(axes: Axes, varied: Varied, x_label: str) -> None:
    axes.set_title(TITLES[varied])
    axes.set_xlabel(x_label)
    axes.set_ylabel(r"$\varepsilon_\ell$ of one superwindow per pattern, after shuffling")
    add_grid(axes)
    dotted = Line2D([], [], color=GREY, linewidth=1.3, linestyle=":", label="permutation known")
    axes.legend(handles=[*axes.get_legend_handles_labels()[0], dotted], fontsize=9)
