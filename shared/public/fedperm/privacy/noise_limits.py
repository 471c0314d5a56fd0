"""A floor under the noise of a run that the choice of k1 and k2 does not move.

Clients hold runs to it, by default; whoever plans a run is told where it falls short.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fedperm.privacy.accountant import printed
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.report import PrivacyReport

__all__ = [
    "LEAST_LAPLACE_SCALE",
    "MOST_RECORD_EPSILON",
    "STOCK_NOISE_LIMITS",
    "NoiseLimits",
    "refusal_warning",
]

MOST_RECORD_EPSILON = 8.0
"""For all rounds of a run: below the 10 up to which practice calls a guarantee for a record
reasonable (Ponomareva et al., "How to DP-fy ML", 2023), above every recipe of this project."""

LEAST_LAPLACE_SCALE = 0.5
"""On parameters normalised to [0, 1]: noise whose scale is C, the furthest that an honest client
moves a parameter. With less, a single parameter shows its sign."""


@dataclass(frozen=True)
class NoiseLimits:
    """One of two floors under the noise that no choice of k1 and k2 moves: a ceiling on the epsilon
    of a record, or, where that is None, a least scale b."""

    max_record_epsilon: float | None
    min_laplace_scale: float

    def wrong_in(self, report: PrivacyReport) -> Iterator[str]:
        """What a run passes, with the names of the settings that decide it."""
        record, most = report.rows.record, self.max_record_epsilon
        if most is None:
            if report.laplace_scale < self.min_laplace_scale:
                yield (
                    f"its noise has the scale b = {report.laplace_scale:.4g}, at least "
                    f"{self.min_laplace_scale:g} is wanted (MIN_LAPLACE_SCALE)"
                )
        elif not isinstance(record, RecordGuarantee):
            yield (
                f"a record has {record.words}, and epsilon {most:g} at most is given "
                "(MAX_RECORD_EPSILON, or ACCEPT_NO_RECORD_GUARANTEE)"
            )
        elif record.epsilon > most:
            yield (
                f"it costs a record epsilon {printed(record.epsilon)}, at most {most:g} is given "
                "(MAX_RECORD_EPSILON)"
            )


STOCK_NOISE_LIMITS = NoiseLimits(MOST_RECORD_EPSILON, LEAST_LAPLACE_SCALE)


def refusal_warning(report: PrivacyReport) -> str | None:
    """For whoever plans a run that clients would not take part in."""
    wrong = "; ".join(STOCK_NOISE_LIMITS.wrong_in(report))
    return f"clients refuse this run unless their owners lower a limit: {wrong}" if wrong else None
