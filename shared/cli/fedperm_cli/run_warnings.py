"""What whoever plans a run is warned of, whichever command plans it."""

from fedperm.contributors import contributors_warning
from fedperm.privacy.noise_limits import refusal_warning
from fedperm.privacy.report import PrivacyReport
from fedperm_cli.average_noise import AverageNoise


def run_warnings(
    noise: AverageNoise | None, contributors: int, report: PrivacyReport | None
) -> list[str]:
    """That nothing can be learned, that clients can read one another, that they will refuse.
    `report` is None where it is not known how clients train, or without noise."""
    found = (
        None if noise is None else noise.warning,
        contributors_warning(contributors),
        None if report is None else refusal_warning(report),
    )
    return [warning for warning in found if warning is not None]
