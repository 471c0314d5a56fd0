"""One picture of a load test: the aggregator over time, uploads, and time by phase."""

from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.load.report import LoadReport
from fedperm_cli.drawing import BLUE, GREEN, GREY, VERMILION, add_grid, new_figure, save


def draw(report: LoadReport, path: Path) -> Path:
    return save(_figure(report), path)


def _figure(report: LoadReport) -> Figure:
    setting = report.setting
    caption = (
        f"{setting.clients} clients, d = {setting.parameters:,}, k1 = {setting.k1}, "
        f"k2 = {setting.k2}; grey: rounds from opening to publication"
    )
    figure = new_figure(caption, width=10, height=6.5)
    memory, uploads, cpu, phases = figure.subplots(2, 2).flat
    for axes in (memory, cpu):
        _shade_rounds(axes, report)
    _draw_memory(memory, report)
    _draw_cpu(cpu, report)
    _draw_uploads(uploads, report)
    _draw_phases(phases, report)
    return figure


def _since_start(report: LoadReport, at: float) -> float:
    return at - report.samples[0].at


def _shade_rounds(axes: Axes, report: LoadReport) -> None:
    for times in report.rounds:
        start, end = (_since_start(report, at) for at in (times.opened_at, times.published_at))
        axes.axvspan(start, end, color=GREY, alpha=0.12)


def _draw_memory(axes: Axes, report: LoadReport) -> None:
    seconds = [_since_start(report, sample.at) for sample in report.samples]
    axes.plot(seconds, [s.memory_bytes / (1 << 20) for s in report.samples], color=BLUE)
    axes.set(ylabel="aggregator, MiB", ylim=(0, None))
    add_grid(axes)


def _draw_cpu(axes: Axes, report: LoadReport) -> None:
    pairs = list(pairwise(report.samples))
    busy = [(b.cpu_seconds - a.cpu_seconds) / (b.at - a.at) for a, b in pairs]
    axes.plot([_since_start(report, b.at) for _, b in pairs], busy, color=VERMILION)
    axes.set(ylabel="aggregator, busy cores", xlabel="seconds", ylim=(0, None))
    add_grid(axes)


def _draw_uploads(axes: Axes, report: LoadReport) -> None:
    uploads = sorted(seconds for times in report.rounds for seconds in times.upload_seconds)
    shares = [(rank + 1) / len(uploads) for rank in range(len(uploads))]
    axes.step(uploads, shares, where="post", color=GREEN)
    axes.set(xlabel="upload, at most so many seconds", ylabel="share of uploads", ylim=(0, 1.05))
    add_grid(axes)


def _draw_phases(axes: Axes, report: LoadReport) -> None:
    """Seconds on the clock; folding waits for the last client."""
    bars: dict[str, tuple[float, str]] = {}
    if report.clients is not None:
        seconds = report.clients.seconds.model_dump()
        bars |= {f"client: {phase}": (value, BLUE) for phase, value in seconds.items()}
    if report.aggregator_seconds is not None:
        bars["round: open"] = report.aggregator_seconds.open, VERMILION
        bars["round: sealed"] = report.aggregator_seconds.fold, VERMILION
    names = list(bars)[::-1]
    axes.barh(names, [bars[n][0] for n in names], color=[bars[n][1] for n in names])
    axes.set(xlabel="median seconds")
    add_grid(axes)
