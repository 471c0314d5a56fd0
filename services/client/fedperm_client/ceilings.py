"""A client's own limits. The aggregator and the operator must not choose its privacy."""

from collections.abc import Iterator
from dataclasses import dataclass

from fedperm.errors import FedPermError
from fedperm.privacy.accountant import printed
from fedperm.privacy.ledger import Budget
from fedperm.privacy.noise_limits import NoiseLimits
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import noise_of, release_of
from fedperm.privacy.report import PrivacyReport, privacy_report
from fedperm.run_document import RunDocument
from fedperm.services import CLIENT
from fedperm_client.errors import CeilingError


@dataclass(frozen=True)
class Ceilings:
    """`max_epsilon` is in the unit of row 1 of the privacy report, for the whole run; None means
    that the owner accepts a run without privacy. That unit is the operator's to shape: a larger
    window meets the same epsilon with less noise. So a second limit, which is not, stands beside
    it: `max_record_epsilon`, or `min_laplace_scale` where the owner accepts that records have no
    guarantee (None).

    `min_window` is a floor for k1. What a larger window is worth is counted in epsilon already, so
    the settings' 2 only keeps out runs that shuffle nothing.
    """

    max_epsilon: float | None
    delta: float
    accountant: str
    max_record_epsilon: float | None
    min_laplace_scale: float
    min_key_bits: int
    min_contributors: int
    min_window: int
    insecure_for_tests: bool

    @property
    def budget(self) -> Budget | None:
        """What the ledger holds the client to; None if nothing is counted."""
        if self.max_epsilon is None:
            return None
        return Budget(self.max_epsilon, self.delta, self.accountant)

    def check(self, document: RunDocument) -> PrivacyReport | None:
        """The report of the whole run (None without noise), or one error with all that is wrong."""
        try:
            report = self.report(document)
        except FedPermError as error:
            wrong = [f"its privacy cannot be counted: {error.message}"]
            raise _refusal([*self._wrong_terms(document), *wrong]) from error
        wrong = [*self._wrong_terms(document), *self._wrong_privacy(report)]
        if wrong:
            raise _refusal(wrong)
        return report

    def report(self, document: RunDocument) -> PrivacyReport | None:
        """By this client's accountant and delta, not the document's."""
        noise = noise_of(document)
        if noise is None:
            return None
        accountant = accountant_named(self.accountant)
        return privacy_report(release_of(document, noise, accountant, self.delta))

    def _wrong_terms(self, document: RunDocument) -> Iterator[str]:
        key_bits, rounds, k1 = document.scheme.key_bits, document.rounds, document.shuffle.k1
        if document.insecure_for_tests and not self.insecure_for_tests:
            yield "it is marked insecure_for_tests (INSECURE_FOR_TESTS)"
        if key_bits < self.min_key_bits:
            yield (
                f"its key has {key_bits} bits, at least {self.min_key_bits} are wanted "
                "(MIN_KEY_BITS)"
            )
        if rounds.min_contributors < self.min_contributors:
            yield (
                f"it publishes averages of {rounds.min_contributors} client(s), at least "
                f"{self.min_contributors} are wanted (MIN_CONTRIBUTORS)"
            )
        if k1 < self.min_window:
            yield f"it shuffles windows of {k1}, at least {self.min_window} are wanted (MIN_WINDOW)"

    def _wrong_privacy(self, report: PrivacyReport | None) -> Iterator[str]:
        if report is None:
            if self.max_epsilon is not None or self.max_record_epsilon is not None:
                yield "it has no noise, so it gives no privacy (ACCEPT_NO_PRIVACY)"
            return
        epsilon = report.rows.paper_unit.epsilon
        if self.max_epsilon is not None and epsilon > self.max_epsilon:
            yield (
                f"its rounds cost epsilon {printed(epsilon)} at delta {self.delta:g} by "
                f"{self.accountant}, at most {self.max_epsilon:g} is given (MAX_EPSILON)"
            )
        yield from NoiseLimits(self.max_record_epsilon, self.min_laplace_scale).wrong_in(report)


def _refusal(wrong: list[str]) -> CeilingError:
    return CeilingError(
        f"this client does not take part in the run: {'; '.join(wrong)}",
        "ask for a run that keeps within this client's settings, or change them yourself: "
        f"{CLIENT.env_prefix} and the name in brackets",
    )
