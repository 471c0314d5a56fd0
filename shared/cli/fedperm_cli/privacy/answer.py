"""The report for the settings and noise that were asked for."""

from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import Release
from fedperm.privacy.rendering import as_json, as_markdown, as_text
from fedperm.privacy.report import PrivacyReport, privacy_report
from fedperm_cli.output import DocumentFormat
from fedperm_cli.privacy.noise import Noise
from fedperm_cli.privacy.settings import Settings


def report_on(settings: Settings, noise: Noise) -> PrivacyReport:
    accountant = accountant_named(settings.accountant)
    law = noise.law(settings, accountant)
    event = ShuffledLaplace(settings.geometry, law.laplace_scale)
    return privacy_report(
        Release(
            rounds=Rounds(event, settings.rounds),
            delta=settings.delta,
            accountant=accountant,
            noise=TableSampler(law),
            training=settings.training,
        )
    )


def rendered(report: PrivacyReport, form: DocumentFormat) -> str:
    if form is DocumentFormat.JSON:
        return as_json(report)
    return as_markdown(report) if form is DocumentFormat.MARKDOWN else as_text(report)
