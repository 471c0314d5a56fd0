"""The figures for people."""

from rich.console import Group, RenderableType
from rich.table import Table

from experiments.rush.report import Endpoint, Lateness, RushReport
from fedperm_cli.pages import facts, heading, listing

_NUMBERS = ("requests", "failed", "p50 ms", "p99 ms", "longest ms")


def page(report: RushReport) -> RenderableType:
    setting = report.setting
    title = (
        f"{setting.idle} clients wait, {setting.uploads} upload at once, "
        f"{report.rounds_published} of {setting.rounds} rounds in {report.seconds:.1f} s; "
        f"{setting.key_bits} bits, d = {setting.parameters:,}, k1 = {setting.k1}, k2 = {setting.k2}"
    )
    return Group(
        heading(title),
        facts(
            ("requests a second", f"{report.requests_per_second:.1f}"),
            ("failed requests", "; ".join((str(report.failed), *report.failures))),
            ("aggregator's longest stall", _late(report.aggregator_stall)),
            ("drivers' own lag", f"crowd {_late(report.crowd_lag)}"),
            ("", f"onlooker {_late(report.onlooker_lag)}"),
        ),
        heading("Answers"),
        _endpoints((*report.endpoints, report.control, report.news)),
        heading("Processes"),
        _processes(report),
    )


def _late(lateness: Lateness) -> str:
    own, whole, loop = map(_milliseconds, (lateness.own, lateness.all, lateness.loop))
    return f"{own} ms, {whole} ms with the wait for a processor; {loop} ms of its own CPU"


def _endpoints(endpoints: tuple[Endpoint, ...]) -> Table:
    table = listing("endpoint", *_NUMBERS, right=_NUMBERS)
    for one in endpoints:
        times = map(_milliseconds, (one.p50, one.p99, one.longest))
        table.add_row(one.name, f"{one.requests:,}", str(one.failed), *times)
    return table


def _processes(report: RushReport) -> Table:
    numbers = ("CPU s", "peak RSS MiB", "peak PSS MiB")
    table = listing("process", *numbers, right=numbers)
    for process in report.processes:
        table.add_row(
            process.name,
            f"{process.cpu_seconds:.1f}",
            _mebibytes(process.peak_rss_bytes),
            _mebibytes(process.peak_pss_bytes),
        )
    return table


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.1f}"


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.1f}"
