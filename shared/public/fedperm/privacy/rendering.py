"""The privacy report as JSON, text and Markdown: the same nine rows in each."""

import json
from dataclasses import asdict, dataclass
from functools import partial
from textwrap import fill
from typing import Any

from fedperm.privacy.accountant import printed
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.report import PrivacyReport, SuperwindowRow

__all__ = ["Line", "as_json", "as_markdown", "as_text", "lines"]


@dataclass(frozen=True)
class Line:
    """One row for a person: what is protected, how well, and against whom; rows 7 to 9 protect
    nothing."""

    unit: str
    guarantee: str
    against: str = ""


def as_json(report: PrivacyReport) -> str:
    """The report's fields; a record without a bound is null, and a note says why."""
    document: dict[str, Any] = asdict(report)
    record = report.rows.record
    if not isinstance(record, RecordGuarantee):
        document["rows"]["record"] = None
        document["notes"] = [*report.notes, f"record level: {record.words}"]
    return json.dumps(document)


def as_text(report: PrivacyReport) -> str:
    heading = f"Privacy of one client ({_counted_by(report)})"
    indented = partial(fill, width=96, initial_indent="   ", subsequent_indent="   ")
    rows = []
    for number, line in enumerate(lines(report), 1):
        rows += [f"{number}. {line.unit}:", indented(line.guarantee)]
        if line.against:
            rows.append(indented(f"holds against {line.against}"))
    return "\n".join([heading, "", *rows])


def as_markdown(report: PrivacyReport) -> str:
    table = [
        f"| {number} | {line.unit} | {line.guarantee} | {line.against} |"
        for number, line in enumerate(lines(report), 1)
    ]
    heading = f"## Privacy of one client ({_counted_by(report)})"
    head = ["| | protected | guarantee | holds against |", "|---|---|---|---|"]
    return "\n".join([heading, "", *head, *table])


def lines(report: PrivacyReport) -> list[Line]:
    rows, against = report.rows, report.against
    paper, smaller = rows.paper_unit, rows.smaller
    pure, whole = rows.whole_update_pure, rows.whole_update
    settings, shuffle, tuning, *others = report.notes
    return [
        Line(
            f"the paper's unit: {paper.parameters} parameters of one update (one superwindow per "
            "pattern), all others known",
            _words(paper),
            against.paper_unit,
        ),
        Line(
            "the same, if the permutation is known",
            _words(rows.permutation_known),
            against.permutation_known,
        ),
        Line(
            "the smaller of these two",
            f"epsilon {printed(smaller.epsilon)} at delta {smaller.delta:g}: "
            f"row {1 if smaller == paper else 2}",
            against.smaller,
        ),
        Line(
            "the whole update, pure",
            f"epsilon {printed(pure.per_round)} per round, {printed(pure.total)} in all",
            against.whole_update_pure,
        ),
        Line(
            "the whole update",
            f"epsilon {printed(whole.epsilon)} at delta {whole.delta:g}",
            against.whole_update,
        ),
        Line("one record of the client's data", rows.record.words, against.record),
        Line("settings", settings),
        Line("what the shuffle rests on", shuffle),
        Line("not counted", "; ".join([tuning, *others])),
    ]


def _counted_by(report: PrivacyReport) -> str:
    warning = ", EXPERIMENTAL" if report.experimental else ""
    return f"accountant {report.accountant}{warning}"


def _words(row: SuperwindowRow) -> str:
    return f"epsilon {printed(row.epsilon)} at delta {row.delta:g} by {row.bound}"
