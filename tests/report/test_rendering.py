"""Text, JSON and Markdown: the same nine rows with the same numbers, and no row without words."""

import json
import math
import re
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedperm.privacy.accountant import Accountant
from fedperm.privacy.record_level import LocalTraining, RecordGuarantee
from fedperm.privacy.registry import BLANKET, DEFAULT, NO_SHUFFLE
from fedperm.privacy.rendering import as_json, as_markdown, as_text, lines
from fedperm.privacy.report import PrivacyReport, WholeUpdateRow, privacy_report
from tests.report.releases import HEAVY, ONE_STEP, release

MINIBATCH = replace(ONE_STEP, full_batch=False)


@pytest.fixture(scope="module", params=[(DEFAULT, ONE_STEP), (NO_SHUFFLE, None), (BLANKET, None)],
                ids=["default", "no training", "experimental"])  # fmt: skip
def report(request: pytest.FixtureRequest) -> PrivacyReport:
    chosen: tuple[Accountant, LocalTraining | None] = request.param
    accountant, training = chosen
    return privacy_report(
        release(geometry=HEAVY, scale=1.5, accountant=accountant, training=training)
    )


def flat(text: str) -> str:
    """Without line breaks, table bars and indentation."""
    return re.sub(r"[\s|]+", " ", text)


def as_written(epsilon: float) -> str:
    """The nearest number of four digits, or the next if that is below."""
    if epsilon >= 1000:
        return f"{math.ceil(epsilon):,}"
    nearest = Decimal(f"{epsilon:.4g}")
    above = nearest if float(nearest) >= epsilon else nearest.next_plus(Context(prec=4))
    return f"{above.normalize():,f}"


def test_nine_rows_always(report: PrivacyReport) -> None:
    numbers = [str(number) for number in range(1, 10)]
    assert len(lines(report)) == 9
    assert re.findall(r"^(\d+)\. ", as_text(report), re.MULTILINE) == numbers
    assert re.findall(r"^\| (\d+) \|", as_markdown(report), re.MULTILINE) == numbers


def test_every_line_stands_in_text_and_markdown(report: PrivacyReport) -> None:
    text, markdown = flat(as_text(report)), flat(as_markdown(report))
    for line in lines(report):
        against = flat(f" holds against {line.against}") if line.against else ""
        assert f"{flat(line.unit)}: {flat(line.guarantee)}{against}" in text
        assert flat(f"{line.unit} {line.guarantee} {line.against}").strip() in markdown


def test_every_row_that_protects_says_against_whom_and_no_other(report: PrivacyReport) -> None:
    assert [bool(line.against) for line in lines(report)] == [True] * 6 + [False] * 3
    document = json.loads(as_json(report))
    assert list(document["against"]) == list(document["rows"])
    assert list(document["against"].values()) == [line.against for line in lines(report)[:6]]


def test_only_the_papers_unit_rests_on_an_honest_aggregator(report: PrivacyReport) -> None:
    """The rest is of what the client sends, its order known: who sees that may know all else."""
    against = report.against
    assert against.paper_unit.startswith("an aggregator that follows the protocol")
    assert "not against other clients, who see sums" in against.paper_unit
    assert against.permutation_known.startswith("everybody: the aggregator and all other clients")
    assert against.whole_update_pure == against.whole_update == "the same as row 2"
    is_row_1 = report.rows.smaller == report.rows.paper_unit
    assert against.smaller == f"the same as row {1 if is_row_1 else 2}"


def test_a_record_without_a_bound_is_protected_against_nobody(report: PrivacyReport) -> None:
    if isinstance(report.rows.record, RecordGuarantee):
        assert "depends on other records" in report.against.record
        assert "who has k records has rho k^2" in report.against.record
    else:
        assert report.against.record.startswith("nobody")


def test_markdown_is_a_table_of_four_columns(report: PrivacyReport) -> None:
    heading, empty, *table = as_markdown(report).splitlines()
    assert heading.startswith("## ")
    assert empty == ""
    assert {row.count("|") for row in table} == {5}


def test_all_three_carry_the_same_numbers(report: PrivacyReport) -> None:
    document: dict[str, Any] = json.loads(as_json(report))
    rows = document["rows"]
    pure = rows["whole_update_pure"]
    expected = [
        f"epsilon {as_written(rows[name]['epsilon'])} at delta 1e-05"
        for name in ("paper_unit", "permutation_known", "smaller", "whole_update")
    ]
    expected += [
        f"epsilon {as_written(pure['per_round'])} per round, {as_written(pure['total'])} in all",
        f"{rows['paper_unit']['parameters']} parameters of one update",
        f"Laplace scale b = {document['laplace_scale']:.6g}",
        f"accountant {document['accountant']}",
    ]
    if rows["record"] is not None:
        expected.append(f"epsilon {as_written(rows['record']['epsilon'])} at delta 1e-05 (rho")
    for rendered in (flat(as_text(report)), flat(as_markdown(report))):
        for words in expected:
            assert words in rendered


@given(epsilon=st.floats(1e-6, 1e12))
@example(epsilon=4.0004)
@example(epsilon=999.95)
@example(epsilon=math.nextafter(1000, math.inf))
def test_no_epsilon_is_written_smaller_than_it_is(report: PrivacyReport, epsilon: float) -> None:
    rows = replace(report.rows, whole_update=WholeUpdateRow(epsilon, 1e-5))
    words = lines(replace(report, rows=rows))[4].guarantee
    shown = float(words.split()[1].replace(",", ""))
    assert epsilon <= shown <= 1.001 * epsilon


def test_round_numbers_stay_round(report: PrivacyReport) -> None:
    for epsilon, shown in ((0.1, "0.1"), (4.0, "4"), (100.0, "100"), (2000.0, "2,000")):
        rows = replace(report.rows, whole_update=WholeUpdateRow(epsilon, 1e-5))
        words = lines(replace(report, rows=rows))[4].guarantee
        assert words == f"epsilon {shown} at delta 1e-05"


def test_json_is_one_line_with_the_reports_own_numbers(report: PrivacyReport) -> None:
    text = as_json(report)
    assert "\n" not in text
    document = json.loads(text)
    assert document["laplace_scale"] == report.laplace_scale
    assert document["rows"]["smaller"]["epsilon"] == report.rows.smaller.epsilon
    assert document["rows"]["whole_update"]["epsilon"] == report.rows.whole_update.epsilon


def test_notes_mention_collusion_and_tuning(report: PrivacyReport) -> None:
    notes = " ".join(json.loads(as_json(report))["notes"])
    for rendered in (notes, flat(as_text(report)), flat(as_markdown(report))):
        assert "colludes with the aggregator" in rendered
        assert "choosing hyper-parameters" in rendered
        assert "adjacency: replace" in rendered
        assert "sampler: integer table" in rendered


@pytest.mark.parametrize(
    ("training", "reason"),
    [
        (None, "how the client trains was not stated"),
        (MINIBATCH, "the step uses a minibatch"),
        (replace(ONE_STEP, local_steps=5), "5 local steps"),
        (replace(ONE_STEP, clip_norm=None), "gradients are not clipped per example"),
    ],
)
def test_without_a_record_bound_all_three_say_so(
    training: LocalTraining | None, reason: str
) -> None:
    report = privacy_report(release(training=training))
    document = json.loads(as_json(report))
    assert document["rows"]["record"] is None
    assert any(note.startswith(f"record level: no bound: {reason}") for note in document["notes"])
    assert f"no bound: {reason}" in flat(as_text(report))
    assert f"no bound: {reason}" in flat(as_markdown(report))


def test_an_experimental_bound_is_flagged_in_all_three() -> None:
    report = privacy_report(release(geometry=HEAVY, scale=1.5, accountant=BLANKET))
    document = json.loads(as_json(report))
    assert document["experimental"] is True
    assert any(note.startswith("EXPERIMENTAL bound") for note in document["notes"])
    for rendered in (as_text(report), as_markdown(report)):
        assert "EXPERIMENTAL)" in rendered.splitlines()[0]
        assert "do not rely on rows 1 and 3" in flat(rendered)
