"""The paper's four timing figures with our measurements in them. Needs matplotlib."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from fedperm_cli.bench.paper_figures import PRINTED_POINTS, PaperPoint, Phase
from fedperm_cli.bench.sweep import Axis, Place, Sweep, SweepPoint
from fedperm_cli.drawing import BLUE, GREEN, VERMILION, add_grid, new_figure, save

COLOURS = {Phase.ENCRYPT: BLUE, Phase.AGGREGATE: VERMILION, Phase.DECRYPT: GREEN}

LABELS = {
    Phase.ENCRYPT: "encryption, one client",
    Phase.AGGREGATE: "aggregation, all clients",
    Phase.DECRYPT: "decryption, one client",
}


AXIS_LABELS = {
    Axis.K1: "window size k1",
    Axis.K2: "shuffling patterns k2",
    Axis.D: "parameters d",
    Axis.CLIENTS: "clients n",
}


def draw_figures(sweep: Sweep, directory: Path) -> list[Path]:
    """One PNG for every axis."""
    return [
        save(figure_of(sweep, axis), directory / f"time-against-{axis.value}.png") for axis in Axis
    ]


def figure_of(sweep: Sweep, axis: Axis) -> Figure:
    points = sweep.along(axis)
    figure = new_figure(_caption(sweep, points))
    axes = figure.add_subplot()
    for phase in Phase:
        _draw_ours(axes, points, phase)
    for printed in PRINTED_POINTS:
        if printed.axis is axis:
            _draw_printed(axes, printed)
    _dress(axes, axis, points)
    return figure


def _draw_ours(axes: Axes, points: list[SweepPoint], phase: Phase) -> None:
    axes.plot(
        [point.place.position for point in points],
        [_seconds(point, phase) for point in points],
        color=COLOURS[phase],
        marker="o",
        markersize=5,
        linewidth=2,
        label=LABELS[phase],
    )


def _seconds(point: SweepPoint, phase: Phase) -> float:
    seconds = {
        Phase.ENCRYPT: point.encrypt_cpu_seconds,
        Phase.AGGREGATE: point.aggregate_cpu_seconds,
        Phase.DECRYPT: point.decrypt_cpu_seconds,
    }
    return seconds[phase]


def _draw_printed(axes: Axes, printed: PaperPoint) -> None:
    axes.plot(
        [printed.position],
        [printed.seconds],
        color=COLOURS[printed.phase],
        marker="*",
        markersize=15,
        markeredgecolor="black",
        linestyle="none",
    )
    axes.annotate(
        f"{printed.seconds:g} s",
        (printed.position, printed.seconds),
        xytext=(8, 6),
        textcoords="offset points",
        fontsize=9,
    )


def _dress(axes: Axes, axis: Axis, points: list[SweepPoint]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.1, 0.12)
    positions = [point.place.position for point in points]
    axes.set_xticks(positions, labels=[f"{position:,}" for position in positions])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(AXIS_LABELS[axis])
    axes.set_ylabel("seconds")
    axes.set_title(f"Time against {AXIS_LABELS[axis]}  ({_fixed(axis, points[0].place)})")
    add_grid(axes)
    star = Line2D([], [], marker="*", markersize=13, color="white", markeredgecolor="black",
                  linestyle="none", label="paper, 64 CPUs")  # fmt: skip
    axes.legend(handles=[*axes.get_legend_handles_labels()[0], star], fontsize=9)


def _fixed(axis: Axis, place: Place) -> str:
    """The other three parameters, which stay the same along this axis."""
    values = {
        Axis.K1: place.k1,
        Axis.K2: place.k2,
        Axis.D: place.d,
        Axis.CLIENTS: place.clients,
    }
    return ", ".join(f"{other} = {value:,}" for other, value in values.items() if other != axis)


def _caption(sweep: Sweep, points: list[SweepPoint]) -> str:
    value_bits = " or ".join(map(str, sorted({point.value_bits for point in points})))
    return (
        f"Lines: CPU seconds measured here, all processes together; {sweep.key_bits}-bit key, "
        f"{value_bits}-bit values.\nEncryption: offline and online, mean over clients. "
        "Stars: seconds that the paper prints, on 64 CPUs."
    )
