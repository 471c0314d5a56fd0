"""What a run's document costs a client in privacy: the same nine rows as `fedperm privacy`."""

from dataclasses import replace

from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import noise_of, release_of
from fedperm.privacy.report import PrivacyReport, privacy_report
from fedperm.run_document import RunDocument

NO_NOISE = "no noise is added: whoever unshuffles an update reads it, and no epsilon holds"
LOCAL_METRICS = "the clients' training losses, which the run's document asks for"


def report_of(document: RunDocument) -> PrivacyReport | None:
    """For a client that takes part in every round; None without noise."""
    noise = noise_of(document)
    if noise is None:
        return None
    accountant = accountant_named(document.noise.accountant)
    report = privacy_report(release_of(document, noise, accountant, document.noise.delta))
    if not document.local_metrics:
        return report
    return replace(report, notes=(*report.notes, LOCAL_METRICS))
