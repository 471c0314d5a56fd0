"""The privacy report: every unit of protection side by side, never one number alone.

The paper's epsilon protects one superwindow per pattern of one client's update. A record or a
whole update changes every parameter, so those rows stand beside it, always (docs/privacy.md).
"""

from dataclasses import dataclass

from fedperm.privacy.accountant import Accountant
from fedperm.privacy.readers import EVERYBODY, NOBODY, OF_RECORDS, THE_AGGREGATOR, as_row
from fedperm.privacy.record_level import (
    NoRecordBound,
    RecordGuarantee,
    RecordLevel,
    RecordRelease,
    record_level,
)
from fedperm.privacy.registry import NO_SHUFFLE
from fedperm.privacy.release import Release
from fedperm.privacy.unshuffled import PureEpsilon, whole_update, whole_update_pure

__all__ = ["PrivacyReport", "Readers", "Rows", "SuperwindowRow", "WholeUpdateRow", "privacy_report"]

UNCOUNTED_TRAINING = NoRecordBound("how the client trains was not stated")


@dataclass(frozen=True)
class SuperwindowRow:
    """(epsilon, delta) for the `parameters` that move together, one superwindow per pattern."""

    epsilon: float
    delta: float
    parameters: int
    bound: str


@dataclass(frozen=True)
class WholeUpdateRow:
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Rows:
    paper_unit: SuperwindowRow
    permutation_known: SuperwindowRow
    smaller: SuperwindowRow
    whole_update_pure: PureEpsilon
    whole_update: WholeUpdateRow
    record: RecordLevel


@dataclass(frozen=True)
class Readers:
    """Against whom each of the rows holds, in words."""

    paper_unit: str
    permutation_known: str
    smaller: str
    whole_update_pure: str
    whole_update: str
    record: str


@dataclass(frozen=True)
class PrivacyReport:
    """Rows 1 to 6 as numbers, with their readers; rows 7 to 9 as notes."""

    accountant: str
    experimental: bool
    laplace_scale: float
    epsilon_wd: float
    epsilon_w: float
    rows: Rows
    against: Readers
    notes: tuple[str, ...]


def privacy_report(release: Release) -> PrivacyReport:
    event, rows = release.rounds.event, _rows(release)
    return PrivacyReport(
        accountant=release.accountant.name,
        experimental=release.accountant.experimental,
        laplace_scale=event.laplace_scale,
        epsilon_wd=event.epsilon_wd,
        epsilon_w=event.epsilon_w,
        rows=rows,
        against=_readers(rows),
        notes=tuple(_notes(release)),
    )


def _rows(release: Release) -> Rows:
    """Every row is counted for the exact mechanism; what the sampler adds is added to each."""
    extra, rounds = release.sampler_epsilon, release.rounds
    shuffled = _superwindow(release, release.accountant)
    known = _superwindow(release, NO_SHUFFLE)
    pure = whole_update_pure(rounds)
    return Rows(
        paper_unit=shuffled,
        permutation_known=known,
        smaller=min(shuffled, known, key=lambda row: row.epsilon),
        whole_update_pure=PureEpsilon(pure.per_round + extra / rounds.count, pure.total + extra),
        whole_update=WholeUpdateRow(
            whole_update(rounds, release.exact_delta) + extra, release.delta
        ),
        record=_record(release),
    )


def _readers(rows: Rows) -> Readers:
    """Row 1 holds against the fewest: all others are of what is sent, whoever reads it."""
    return Readers(
        paper_unit=THE_AGGREGATOR,
        permutation_known=EVERYBODY,
        smaller=as_row(1 if rows.smaller == rows.paper_unit else 2),
        whole_update_pure=as_row(2),
        whole_update=as_row(2),
        record=OF_RECORDS if isinstance(rows.record, RecordGuarantee) else NOBODY,
    )


def _superwindow(release: Release, accountant: Accountant) -> SuperwindowRow:
    geometry = release.rounds.event.geometry
    found = accountant.guarantee(release.rounds, release.exact_delta)
    return SuperwindowRow(
        epsilon=found.epsilon + release.sampler_epsilon,
        delta=release.delta,
        parameters=geometry.patterns * geometry.superwindow,
        bound=found.bound,
    )


def _record(release: Release) -> RecordLevel:
    if release.training is None:
        return UNCOUNTED_TRAINING
    noise = RecordRelease(
        release.rounds.event.laplace_scale,
        release.rounds.count,
        release.noise.law.grid,
        release.sampler_epsilon,
    )
    return record_level(release.training, noise, release.delta)


def _notes(release: Release) -> list[str]:
    rounds, event, clip_words = release.rounds, release.rounds.event, ""
    if release.training is not None:
        clip = release.training.clip
        scale = 2 * clip * event.laplace_scale
        clip_words = f" (clip C = {clip:g}: noise of scale {scale:.4g} on each parameter)"
    return [
        f"delta {release.delta:g}, T = {rounds.count} rounds, Laplace scale b = "
        f"{event.laplace_scale:.6g} on parameters normalised to [0, 1]{clip_words}; "
        "adjacency: replace the protected unit by any other value; "
        f"sampler: {release.noise.name}, grid of 1/{release.noise.law.grid}, adds "
        f"{release.sampler_epsilon:.2g} to every epsilon above",
        "row 1, and row 3 where it is row 1, rest on the shuffle, which Paillier encryption hides: "
        "the guarantee is computational, and it fails when one client that holds the shared key "
        "colludes with the aggregator, or shows it the sum of a round; rows 2, 4, 5 and 6 need "
        "neither shuffle nor key",
        "choosing hyper-parameters by looking at results on private data",
        *_warnings(release.accountant),
    ]


def _warnings(accountant: Accountant) -> list[str]:
    """What makes rows 1 and 3 less than a published guarantee."""
    if accountant.experimental:
        return ["EXPERIMENTAL bound: not proved; do not rely on rows 1 and 3"]
    if accountant.reproduction_only:
        return [
            "rows 1 and 3 reproduce the paper's own count, with w unrounded and continuous noise: "
            "they are no guarantee for what is released"
        ]
    if not accountant.published:
        return ["the bound of rows 1 and 3 is proved in this repository and not published"]
    return []
