"""The figures for people."""

from collections.abc import Sequence

from rich.console import Group, RenderableType

from experiments.load.refusals import Refusal
from experiments.load.report import ClientFigures, Failures, LoadReport
from experiments.load.usage import Usage
from fedperm.wire.aggregator import AggregatorSeconds
from fedperm_cli.measures import as_bytes, as_seconds
from fedperm_cli.pages import facts, heading

Row = tuple[str, str]


def page(report: LoadReport) -> RenderableType:
    setting = report.setting
    title = (
        f"{setting.clients} clients, {len(report.rounds)} of {setting.rounds} rounds, "
        f"d = {setting.parameters:,}, k1 = {setting.k1}, k2 = {setting.k2}"
    )
    return Group(
        heading(title),
        facts(
            ("rounds a minute", f"{report.rounds_per_minute:.2f}"),
            *(_clients(report.clients) if report.clients else ()),
            *(_aggregator(report.aggregator_seconds) if report.aggregator_seconds else ()),
            *_usage(report.aggregator),
            ("one client's CPU, memory", _shortly(report.one_client)),
            ("requests sent again", _refused(report.refusals)),
            *_failures(report.failures),
        ),
    )


def _clients(figures: ClientFigures) -> tuple[Row, ...]:
    upload = figures.upload
    return (
        ("upload", f"p50 {as_seconds(upload.p50)}, p99 {as_seconds(upload.p99)}"),
        ("a client's round", _phases(figures.seconds.model_dump())),
        ("a client's bytes", f"up {as_bytes(figures.bytes_up)}, {_down(figures)}"),
    )


def _down(figures: ClientFigures) -> str:
    return f"down {as_bytes(figures.bytes_down)} a round"


def _aggregator(seconds: AggregatorSeconds) -> tuple[Row, ...]:
    wall = {"open": seconds.open, "sealed to published": seconds.fold}
    cpu = {
        "check": seconds.validation_cpu,
        "fold": seconds.folding_cpu,
        "re-randomise": seconds.rerandomising_cpu,
    }
    return (("a round, on the clock", _phases(wall)), ("a round, CPU of workers", _phases(cpu)))


def _usage(usage: Usage) -> tuple[Row, ...]:
    return (
        ("aggregator's CPU", as_seconds(usage.cpu_seconds)),
        (
            "aggregator's memory",
            f"{_mebibytes(usage.peak_memory_bytes)} at most, {_mebibytes(usage.idle_memory_bytes)} "
            f"before the run, without page cache, every {usage.interval_seconds} s",
        ),
    )


def _shortly(usage: Usage) -> str:
    peak = _mebibytes(usage.peak_memory_bytes)
    return f"{as_seconds(usage.cpu_seconds)} in all, {peak} at most"


def _failures(failures: Failures) -> tuple[Row, ...]:
    kinds = [f"{count} {name}" for name, count in failures.model_dump().items() if count]
    words = f": {', '.join(kinds).replace('_', ' ')}" if kinds else ""
    return (("failures", f"{failures.total}{words}"),)


def _refused(refusals: Sequence[Refusal]) -> str:
    words = [f"{r.count} x {r.method} {r.route} ({r.status})" for r in refusals]
    return ", ".join(words) or "0"


def _phases(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {as_seconds(value)}" for name, value in seconds.items())


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"
