"""The paper's times and ours, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from experiments.paper.records import ResultFile
from fedperm_cli.bench.paper import PAPER_CPUS, times_per_core
from fedperm_cli.bench.paper_figures import PRINTED_POINTS, PaperPoint, Phase
from fedperm_cli.bench.report import Report
from fedperm_cli.bench.sweep import Sweep, SweepPoint, sweep_of
from fedperm_cli.presets import Preset

_PHASES = {
    Phase.ENCRYPT: "encryption, one client",
    Phase.AGGREGATE: "aggregation, 15 clients",
    Phase.DECRYPT: "decryption, one client",
}


@dataclass(frozen=True)
class Pair:
    """Seconds of the paper on all its CPUs, CPU seconds of ours on one core."""

    what: str
    paper: float
    ours: float

    @property
    def line(self) -> str:
        cells = (
            self.what,
            f"{self.paper:,.2f}",
            _digits(self.ours),
            _times(self.paper / self.ours),
            _times(times_per_core(self.paper, self.ours)),
        )
        return f"| {' | '.join(cells)} |"


def section(results: ResultFile) -> str:
    """Empty before anything was measured."""
    return "\n".join(_lines(results)) if results.records else ""


def sweep_in(results: ResultFile) -> Sweep | None:
    for record in results.records:
        if "sweep" in record.result:
            document: Any = record.result["sweep"]
            return sweep_of(document)
    return None


def reports_in(results: ResultFile) -> dict[Preset, Report]:
    """What `fedperm bench` printed."""
    by_name = {record.name: record.result["report"] for record in results.records}
    return {
        preset: TypeAdapter(Report).validate_python(by_name[preset])
        for preset in Preset
        if preset in by_name
    }


def pairs_of_presets(results: ResultFile) -> Iterator[Pair]:
    for preset, report in reports_in(results).items():
        yield from _pairs(preset, report)


def costs(results: ResultFile) -> Iterator[str]:
    """What a round costs, beside python-paillier in the same run."""
    reports = reports_in(results)
    columns = " | ".join(f"{preset} | times as fast as python-paillier" for preset in reports)
    yield f"| CPU seconds, one core | {columns} |"
    yield f"|---|{'---|---|' * len(reports)}"
    cells = [list(_costs(report)) for report in reports.values()]
    for what, *of_presets in zip(_COSTS, *cells, strict=True):
        yield f"| {what} | {' | '.join(of_presets)} |"


_COSTS = (
    "encrypt the masks of a client, ahead of time",
    "and in the round",
    "aggregate 15 clients",
    "re-randomise what is published",
    "decrypt, a client",
    "upload and download of a client",
    "peak memory, all processes, at most",
    "exact",
)


def _costs(report: Report) -> Iterator[str]:
    """Of one preset: a number and its ratio, if it has one."""
    encrypt, ratios = report.encrypt, report.phe_ratio
    up, down = report.upload_bytes_per_client / 1e6, report.download_bytes / 1e3
    yield f"{_digits(encrypt.offline_cpu_seconds)} | {ratios.encrypt:,.0f}"
    yield f"{_digits(encrypt.online_cpu_seconds)} | (both lines)"
    yield f"{_digits(report.aggregate.cpu_seconds)} | {ratios.aggregate:,.0f}"
    yield f"{_digits(report.rerandomise.cpu_seconds)} | "
    yield f"{_digits(report.decrypt.cpu_seconds)} | {ratios.decrypt:,.0f}"
    yield f"{up:.2f} MB, {down:.0f} kB | "
    yield f"{report.peak_rss_bytes / 2**20:.0f} MiB | "
    yield f"{'yes' if report.exact else 'NO'} | "


def pairs_of_figures(sweep: Sweep) -> Iterator[Pair]:
    """The points of the paper's figures that its text prints, where our sweep has them."""
    for printed in PRINTED_POINTS:
        for point in sweep.along(printed.axis):
            if point.place.position == printed.position:
                phase = _PHASES[printed.phase].partition(",")[0]
                what = f"{phase} against {printed.axis}: {_place(point)}"
                yield Pair(what, printed.seconds, _seconds(point, printed))


def _lines(results: ResultFile) -> Iterator[str]:
    origins = [results.origin_of(record) for record in results.records]
    named = " and ".join(sorted({f"{one.processor} ({one.cores} cores)" for one in origins}))
    yield "## Time"
    yield ""
    yield (
        f"The paper measured on {PAPER_CPUS} CPUs that it does not name, we on one core of: "
        f"{named}. Ours are CPU seconds of all processes together; on this machine, which is "
        "shared, they drift by a third. "
        "`times as fast`: the paper's seconds over ours, one core against its 64. `per core, at "
        "most`: 64 times that, which holds if all its CPUs were busy all the time."
    )
    yield ""
    yield from _head("setting and phase")
    for pair in pairs_of_presets(results):
        yield pair.line
    yield ""
    yield (
        "Encryption is all that a client does for a round, most of it while it waits; aggregation "
        "includes re-randomising what is published."
    )
    yield ""
    yield (
        "Beside python-paillier doing the paper's Algorithm 1 as written, one ciphertext per bit: "
        "an estimate, its cost per operation in the same run times the paper's counts. Exact: the "
        "decrypted average is the integer average to the last unit."
    )
    yield ""
    yield from costs(results)
    sweep = sweep_in(results)
    if sweep is None:
        return
    yield ""
    yield from _head("point of the paper's figures")
    for pair in pairs_of_figures(sweep):
        yield pair.line
    yield ""
    yield (
        "Where d varies, the paper does not say k1; ours is 100. Below 1 its 64 CPUs are faster "
        "than our one core. Its decryption of d = 7,850 parameters takes longer than that of "
        "100,000, which it does not explain."
    )
    for axis in ("k1", "k2", "d", "n"):
        yield ""
        yield f"![Time against {axis}](pictures/time-against-{axis}.svg)"


def _head(first: str) -> Iterator[str]:
    columns = f"the paper, s on {PAPER_CPUS} CPUs | ours, CPU s | times as fast | per core, at most"
    yield f"| {first} | {columns} |"
    yield "|---|---|---|---|---|"


def _pairs(preset: Preset, report: Report) -> Iterator[Pair]:
    encrypt = report.encrypt
    ours = {
        Phase.ENCRYPT: encrypt.offline_cpu_seconds + encrypt.online_cpu_seconds,
        Phase.AGGREGATE: report.aggregate.cpu_seconds + report.rerandomise.cpu_seconds,
        Phase.DECRYPT: report.decrypt.cpu_seconds,
    }
    for phase, words in _PHASES.items():
        yield Pair(f"{preset}: {words}", getattr(report.paper_seconds, phase), ours[phase])


def _seconds(point: SweepPoint, printed: PaperPoint) -> float:
    seconds: float = getattr(point, f"{printed.phase}_cpu_seconds")
    return seconds


def _place(point: SweepPoint) -> str:
    place = point.place
    return f"k1 = {place.k1}, k2 = {place.k2}, d = {place.d:,}, n = {place.clients}"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


def _digits(seconds: float) -> str:
    return f"{seconds:,.1f}" if seconds >= 10 else f"{seconds:.3f}"
