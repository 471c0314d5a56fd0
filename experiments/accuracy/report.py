"""The accuracy results in words and tables."""

import math
from collections.abc import Iterator, Mapping, Sequence

from experiments.accuracy.gaussian import REMOVED, REPLACED, GaussianNoise, noise_for, spent
from experiments.accuracy.rows import (
    EPSILONS,
    FEDAVG,
    ROWS,
    Row,
    Table,
    fedperm_row,
)
from experiments.accuracy.setting import CLIENTS, ROUNDS, Algorithm
from experiments.accuracy.summary import Summary
from fedperm.privacy.accountant import printed
from fedperm.privacy.registry import accountant_named
from fedperm_cli.presets import PAPER_EPSILON, Preset

Summaries = Mapping[str, Summary]

LABELS = {
    Algorithm.FEDAVG: "FedAvg",
    Algorithm.CDP: "CDP-FL",
    Algorithm.LDP: "LDP-FL",
    Algorithm.FEDPERM: "FedPerm",
}
PRINTED = {
    "FedAvg": 91.02,
    "FedPerm heavy": 72.38,
    "CDP-FL": 53.50,
    "FedPerm light": 32.85,
    "LDP-FL": 13.74,
}
"""The paper's accuracies at (4, 1e-5)."""
UNITS = ("paper_unit", "permutation_known", "whole_update", "record", "participant")


def row_label(row: Row) -> str:
    return " ".join(part for part in (LABELS[row.wish.algorithm], row.setting) if part)


def accountant_label(row: Row) -> str:
    if row.wish.algorithm is not Algorithm.FEDPERM:
        return "" if row.wish.algorithm is Algorithm.FEDAVG else "gaussian"
    accountant = accountant_named(row.wish.accountant)
    if accountant.experimental:
        return f"{accountant.name} (experimental)"
    return accountant.name if accountant.published else f"{accountant.name} (not published)"


def accuracy_words(summary: Summary) -> str:
    if len(summary.seeds) == 1:
        return f"{summary.mean:.2f}"
    return f"{summary.mean:.2f} ± {summary.deviation:.2f}"


def against_the_paper(found: Summaries) -> Iterator[str]:
    """One line for each figure that the paper prints: as it has it, and our best."""
    columns = "raw pixels | filtered images | filtered, accountant `default`"
    yield f"| algorithm | the paper | {columns} |"
    yield "|---|---|---|---|---|"
    for label, accuracy in PRINTED.items():
        yield f"| {label} | {accuracy:.2f} | {' | '.join(_ours(label, found))} |"


def _ours(label: str, found: Summaries) -> tuple[str, str, str]:
    is_fedperm = label.startswith("FedPerm")
    papers = "paper" if is_fedperm else "default"
    return (
        _cell(_at_paper(Table.RAW, label, papers), found),
        _cell(_at_paper(Table.PAPER_UNIT, label, papers), found),
        _cell(_at_paper(Table.PAPER_UNIT, label, "default"), found) if is_fedperm else "",
    )


def _at_paper(table: Table, label: str, accountant: str) -> Row:
    (row,) = [
        row
        for row in ROWS
        if (row.table, row_label(row), row.wish.accountant) == (table, label, accountant)
        and row.wish.epsilon in (None, PAPER_EPSILON)
    ]
    return row


def _cell(row: Row, found: Summaries) -> str:
    return accuracy_words(found[row.name]) if row.name in found else "not measured"


def of_gaussian() -> dict[str, str]:
    """What the text says of the baselines' noise: z, in units of the clip; on a coordinate of the
    mean, for one clip; and the epsilon of whoever is replaced, which moves the sum twice as far."""
    cdp, ldp = (noise_for(PAPER_EPSILON, ROUNDS, moved) for moved in (REMOVED, REPLACED))
    return {
        "cdp_noise": f"{cdp.multiplier:.4g}",
        "cdp_noise_on_mean": f"{cdp.multiplier / CLIENTS:.3f}",
        "cdp_replaced": printed(_of_replaced(cdp.multiplier)),
        "ldp_noise": f"{ldp.multiplier:.4g}",
        "ldp_noise_on_mean": f"{ldp.multiplier / math.sqrt(CLIENTS):.3f}",
    }


def _of_replaced(multiplier: float) -> float:
    return spent(GaussianNoise(multiplier, REPLACED), ROUNDS)


def by_epsilon(found: Summaries) -> Iterator[str]:
    """Accuracy only, one column an epsilon."""
    names = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    yield f"| algorithm | accountant | {names} |"
    yield f"|---|---|{'---|' * len(EPSILONS)}"
    cells = " | ".join([_cell(FEDAVG, found), *[""] * (len(EPSILONS) - 1)])
    yield f"| FedAvg, no privacy | | {cells} |"
    for label, accountant, rows in _lines():
        cells = " | ".join(_cell(rows[e], found) if e in rows else "" for e in EPSILONS)
        yield f"| {label} | {accountant} | {cells} |"


def _lines() -> Iterator[tuple[str, str, dict[float, Row]]]:
    """With the rows by epsilon."""
    lines: dict[tuple[str, str], dict[float, Row]] = {}
    for row in ROWS:
        if row.table is Table.PAPER_UNIT and row.wish.epsilon is not None:
            line = lines.setdefault((row_label(row), accountant_label(row)), {})
            line[row.wish.epsilon] = row
    for (label, accountant), rows in lines.items():
        yield label, accountant, rows


def all_units(found: Summaries, rows: Sequence[Row]) -> Iterator[str]:
    """Accuracy and every epsilon, one row after the other."""
    yield (
        "| algorithm | accountant | accuracy, % | noise | the paper's unit | permutation known | "
        "whole update | one record | a client, trusted server |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        if row.name in found:
            yield _in_all_units(found[row.name])


def _in_all_units(summary: Summary) -> str:
    row = summary.row
    letter = "b" if row.wish.algorithm is Algorithm.FEDPERM else "z"
    noise = "none" if row is FEDAVG else f"{letter} = {_range(summary.noise)}"
    cells = [_epsilon_words(summary, unit) for unit in UNITS]
    return " | ".join(
        [
            f"| {row_label(row)}",
            accountant_label(row),
            accuracy_words(summary),
            noise,
            *cells[:-1],
            f"{cells[-1]} |",
        ]
    )


def _epsilon_words(summary: Summary, unit: str) -> str:
    """A client's whole update hides every part of it, every record, and the client; a changed
    record is a replaced client."""
    algorithm, epsilon = summary.row.wish.algorithm, summary.epsilon(unit)
    if epsilon is not None:
        return printed(epsilon)
    if algorithm is Algorithm.CDP and unit == "record":
        return f"{printed(_of_replaced(min(summary.noise)))} (trusted server)"
    hides_updates = algorithm in (Algorithm.LDP, Algorithm.FEDPERM)
    return "as whole update" if hides_updates else ""


def _range(numbers: Sequence[float]) -> str:
    low, high = f"{min(numbers):.4g}", f"{max(numbers):.4g}"
    return low if low == high else f"{low} to {high}"


def by_record(found: Summaries) -> Iterator[str]:
    yield "| one record | accuracy, % | b | smallest client | the paper's unit | whole update |"
    yield "|---|---|---|---|---|---|"
    for summary in record_summaries(found):
        yield _of_record(summary)


def record_summaries(found: Summaries) -> list[Summary]:
    known = [summary for summary in found.values() if summary.row.table is Table.RECORD]
    return sorted(known, key=lambda summary: summary.row.wish.epsilon or 0.0)


def _of_record(summary: Summary) -> str:
    record, unit, whole = (
        printed(summary.epsilon(unit) or 0.0) for unit in ("record", "paper_unit", "whole_update")
    )
    clients = ", ".join(f"{records:,}" for records in summary.smallest_clients)
    return (
        f"| {record} | {accuracy_words(summary)} | {_range(summary.noise)} | {clients} | {unit} | "
        f"{whole} |"
    )


def by_cost(found: Summaries) -> Iterator[str]:
    yield (
        "| k1 | k2 | masks of a client, MB a round | b | accuracy, % | parameters in the unit | "
        "whole update |"
    )
    yield "|---|---|---|---|---|---|---|"
    for summary in cost_summaries(found):
        geometry = summary.row.wish.geometry
        whole = printed(summary.epsilon("whole_update") or 0.0)
        yield (
            f"| {geometry.k1:,} | {geometry.k2} | {summary.upload_megabytes:.2f} | "
            f"{_range(summary.noise)} | {accuracy_words(summary)} | "
            f"{geometry.patterns * geometry.superwindow} | {whole} |"
        )


def cost_summaries(found: Summaries) -> list[Summary]:
    """Under the default accountant, light and heavy among them; the cheapest first."""
    presets = [fedperm_row(preset, "default", PAPER_EPSILON) for preset in Preset]
    rows = [*presets, *(row for row in ROWS if row.table is Table.COST)]
    known = [found[row.name] for row in rows if row.name in found]
    return sorted(known, key=lambda summary: summary.upload_megabytes)


def raw(found: Summaries) -> Iterator[str]:
    """What the input filter is worth."""
    yield "| algorithm | accountant | raw pixels, % | filtered, % |"
    yield "|---|---|---|---|"
    for row in ROWS:
        if row.table is Table.RAW and row.name in found:
            filtered = Row(Table.PAPER_UNIT, row.wish, row.setting)
            cells = [
                row_label(row),
                accountant_label(row),
                _cell(row, found),
                _cell(filtered, found),
            ]
            yield f"| {' | '.join(cells)} |"
