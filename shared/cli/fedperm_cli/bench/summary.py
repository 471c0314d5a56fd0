"""The report for people."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fedperm_cli.bench.baseline import BaselineSeconds
from fedperm_cli.bench.paper import PAPER_CPUS, times_per_core
from fedperm_cli.bench.report import Report

UNKNOWN = "-"


def print_summary(
    report: Report, baseline: BaselineSeconds, reasons: Sequence[str], console: Console
) -> None:
    console.print(
        Group(
            Text("Plan", style="bold"),
            *(Padding(reason, (0, 0, 0, 2)) for reason in reasons),
            Text(),
            _phases(report, baseline),
            _facts(report),
            _verdict(report),
        ),
        highlight=False,
    )


def _phases(report: Report, baseline: BaselineSeconds) -> Table:
    table = Table(title="CPU seconds", title_justify="left", title_style="bold")
    table.add_column("phase")
    for heading in (
        "ours",
        "python-paillier\n(estimated)",
        "ratio",
        f"paper,\n{PAPER_CPUS} CPUs",
        "per core,\nat most",
    ):
        table.add_column(heading, justify="right")
    paper, encrypt, ratio = report.paper_seconds, report.encrypt, report.phe_ratio
    encryption = encrypt.offline_cpu_seconds + encrypt.online_cpu_seconds
    aggregation = report.aggregate.cpu_seconds
    rows = (
        ("tables, once per key", encrypt.table_cpu_seconds, None, None, None),
        ("encryption of a client", encryption, baseline.encrypt, ratio.encrypt,
         paper and paper.encrypt),
        ("  of it online", encrypt.online_cpu_seconds, None, None, None),
        ("check of an upload", report.validate.cpu_seconds, None, None, None),
        ("aggregation of all", aggregation, baseline.aggregate, ratio.aggregate,
         paper and paper.aggregate),
        ("re-randomising", report.rerandomise.cpu_seconds, None, None, None),
        ("decryption", report.decrypt.cpu_seconds, baseline.decrypt, ratio.decrypt,
         paper and paper.decrypt),
    )  # fmt: skip
    for phase, *numbers in rows:
        table.add_row(phase, *_cells(*numbers))
    return table


def _cells(
    ours: float, baseline: float | None, ratio: float | None, paper: float | None
) -> tuple[str, str, str, str, str]:
    return (
        f"{ours:,.4f}",
        UNKNOWN if baseline is None else f"{baseline:,.1f}",
        UNKNOWN if ratio is None else f"{ratio:,.0f} x",
        UNKNOWN if paper is None else f"{paper:,.1f}",
        UNKNOWN if paper is None else f"{times_per_core(paper, ours):,.0f} x",
    )


def _facts(report: Report) -> Table:
    aggregate = report.aggregate
    table = Table(show_header=False, box=None)
    for name, value in (
        ("ciphertexts a client", f"{report.ciphertexts_per_client:,}"),
        ("upload of a client", f"{report.upload_bytes_per_client:,} bytes"),
        ("download of a client", f"{report.download_bytes:,} bytes"),
        (
            "multiplications mod n^2",
            f"{aggregate.modmuls:,}, {aggregate.half_size_modmuls:,} of them by a half-size factor",
        ),
        ("a full-size one", f"{aggregate.modmul_seconds * 1e6:.2f} microseconds"),
        (
            "efficiency",
            f"{aggregate.efficiency:.2f} (half-size multiplications count as whole ones)",
        ),
        ("aggregation on the wall", f"{aggregate.wall_seconds:,.2f} seconds"),
        ("peak memory, at most", f"{report.peak_rss_bytes / 2**20:,.0f} MiB"),
    ):
        table.add_row(name, value)
    return table


def _verdict(report: Report) -> RenderableType:
    if report.exact:
        return Text("exact: yes, the decrypted sum is the integer sum", style="bold green")
    return Text("exact: NO, the decrypted sum differs from the integer sum", style="bold red")
