"""What must hold within a row, between rows, and between two reports, whatever the run."""

from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.registry import BLANKET, DEFAULT, NO_SHUFFLE, PAPER, VARIATION_RATIO
from fedperm.privacy.release import Release
from fedperm.privacy.report import PrivacyReport, privacy_report
from fedperm.windows import Geometry
from tests.report.releases import HEAVY, LIGHT, release

ROWS = ("shuffled", "permutation known", "smaller", "pure a round", "pure", "whole", "record")


def epsilons(report: PrivacyReport) -> dict[str, float]:
    """Every epsilon of the report, by row."""
    rows = report.rows
    assert isinstance(rows.record, RecordGuarantee)
    values = (
        rows.paper_unit.epsilon,
        rows.permutation_known.epsilon,
        rows.smaller.epsilon,
        rows.whole_update_pure.per_round,
        rows.whole_update_pure.total,
        rows.whole_update.epsilon,
        rows.record.epsilon,
    )
    return dict(zip(ROWS, values, strict=True))


geometries = st.builds(Geometry, st.integers(1, 9000), st.integers(1, 900), st.integers(1, 12))
scales = st.floats(0.1, 60)


@given(geometries, scales, st.integers(1, 200))
def test_pure_rows_by_hand(geometry: Geometry, scale: float, rounds: int) -> None:
    """Every padded position may move by its whole range: ceil(d/k1) k1 / b a round."""
    padded = (geometry.d + geometry.k1 - 1) // geometry.k1 * geometry.k1
    report = privacy_report(release(geometry=geometry, scale=scale, rounds=rounds))
    pure = report.rows.whole_update_pure
    assert pure.per_round == pytest.approx(padded / scale)
    assert pure.total == pytest.approx(rounds * padded / scale)
    assert report.epsilon_wd == pytest.approx(1 / scale)
    assert report.epsilon_w == pytest.approx(geometry.superwindow / scale)
    assert report.rows.whole_update.epsilon <= pure.total


def test_pure_rows_of_light_and_heavy() -> None:
    """20 windows of 400 are 8,000 positions, and so are 10 windows of 800."""
    for geometry in (LIGHT, HEAVY):
        report = privacy_report(release(geometry=geometry, scale=10, rounds=50))
        assert report.rows.whole_update_pure.per_round == pytest.approx(800)
        assert report.rows.whole_update_pure.total == pytest.approx(40_000)


@pytest.mark.parametrize(
    ("geometry", "scale", "accountant", "shuffle_helps"),
    [
        (LIGHT, 50.95, PAPER, False),  # light by the paper's chain: worse than not shuffling
        (HEAVY, 17.38, PAPER, True),
        (LIGHT, 8, DEFAULT, True),
        (HEAVY, 1, DEFAULT, True),
    ],
)
def test_the_smaller_of_shuffled_and_unshuffled_is_reported(
    geometry: Geometry, scale: float, accountant: Accountant, shuffle_helps: bool
) -> None:
    rows = privacy_report(release(geometry=geometry, scale=scale, accountant=accountant)).rows
    assert (rows.paper_unit.epsilon < rows.permutation_known.epsilon) is shuffle_helps
    assert rows.smaller == (rows.paper_unit if shuffle_helps else rows.permutation_known)


@pytest.mark.parametrize(("geometry", "parameters"), [(LIGHT, 20), (HEAVY, 10)])
def test_the_unit_is_stated_as_a_count_of_parameters(geometry: Geometry, parameters: int) -> None:
    rows = privacy_report(release(geometry=geometry)).rows
    assert rows.paper_unit.parameters == rows.permutation_known.parameters == parameters


@pytest.mark.parametrize("accountant", [NO_SHUFFLE, PAPER, DEFAULT], ids=lambda a: str(a.name))
def test_every_row_grows_with_the_rounds(accountant: Accountant) -> None:
    reports = [
        epsilons(privacy_report(release(scale=40, rounds=rounds, accountant=accountant)))
        for rounds in (5, 20, 50)
    ]
    for row in set(ROWS) - {"pure a round"}:
        values = [report[row] for report in reports]
        assert values == sorted(set(values)), row
    assert len({round(report["pure a round"], 9) for report in reports}) == 1


@pytest.mark.parametrize("accountant", [NO_SHUFFLE, PAPER, DEFAULT], ids=lambda a: str(a.name))
def test_every_row_falls_with_the_noise(accountant: Accountant) -> None:
    reports = [
        epsilons(privacy_report(release(scale=scale, accountant=accountant)))
        for scale in (60, 40, 25)
    ]
    for row in ROWS:
        values = [report[row] for report in reports]
        assert values == sorted(set(values)), row


def test_every_epsilon_with_a_delta_falls_with_it() -> None:
    strict, lax = (epsilons(privacy_report(release(delta=delta))) for delta in (1e-9, 1e-3))
    for row in ("shuffled", "permutation known", "smaller", "whole", "record"):
        assert strict[row] > lax[row], row
    assert strict["pure"] == pytest.approx(lax["pure"])


def test_an_experimental_accountant_says_so() -> None:
    report = privacy_report(release(scale=8, accountant=BLANKET))
    assert report.experimental
    assert "EXPERIMENTAL" in report.rows.paper_unit.bound
    assert not privacy_report(release()).experimental


@dataclass(frozen=True)
class Inexact:
    """The same draws, with an error that shows in four digits."""

    exact: NoiseSampler
    eta: float

    @property
    def law(self) -> GridLaplace:
        return self.exact.law

    @property
    def name(self) -> str:
        return f"table with error {self.eta:g}"

    def draw(self, count: int, randomness: Random, /) -> NDArray[np.int64]:
        return self.exact.draw(count, randomness)


def test_every_row_counts_the_samplers_error() -> None:
    """2 d T eta = 2 * 8000 * 50 * 1e-7 = 0.08; delta is converted at e^(-0.04) of itself."""
    exact = release()
    inexact = replace(exact, noise=Inexact(exact.noise, eta=1e-7))
    before = epsilons(privacy_report(exact))
    after = epsilons(privacy_report(inexact))
    assert after["pure"] - before["pure"] == pytest.approx(0.08)
    assert after["pure a round"] - before["pure a round"] == pytest.approx(0.08 / 50)
    for row in ("shuffled", "permutation known", "smaller", "whole", "record"):
        assert after[row] - before[row] > 0.08, row
        assert after[row] - before[row] < 0.08 + 0.03 * before[row], row
    assert "table with error 1e-07" in privacy_report(inexact).notes[0]


def test_noise_of_another_scale_than_the_one_counted_is_refused() -> None:
    noise = TableSampler(GridLaplace(50.0, grid=256, reach=400.5))
    with pytest.raises(ParameterError, match="noise of scale 50 is counted as 1"):
        Release(Rounds(ShuffledLaplace(LIGHT, 1.0), 50), 1e-5, NO_SHUFFLE, noise)


def test_a_grid_coarser_than_what_the_bounds_cover_is_refused() -> None:
    noise = TableSampler(GridLaplace(1.0, grid=1, reach=8.5))
    with pytest.raises(ParameterError, match="shows more than is counted"):
        Release(Rounds(ShuffledLaplace(LIGHT, 1.0), 50), 1e-5, NO_SHUFFLE, noise)


@pytest.mark.parametrize(
    ("accountant", "scale", "warning"),
    [
        (PAPER, 60.0, "no guarantee for what is released"),
        (VARIATION_RATIO, 60.0, "proved in this repository and not published"),
        (BLANKET, 60.0, "EXPERIMENTAL"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_bound_that_is_less_than_published_says_so(
    accountant: Accountant, scale: float, warning: str
) -> None:
    notes = privacy_report(release(scale=scale, accountant=accountant)).notes
    assert any(warning in note for note in notes)


def test_the_default_bound_carries_no_warning() -> None:
    assert len(privacy_report(release(accountant=DEFAULT)).notes) == 3
