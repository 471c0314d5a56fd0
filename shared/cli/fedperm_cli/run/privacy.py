"""What a run's document costs a client in privacy: the same nine rows as `fedperm privacy`."""

from dataclasses import replace

from fedperm.noise.law import GridLaplace
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.report import PrivacyReport, Release, privacy_report
from fedperm.run_document import RunDocument
from fedperm_cli.run.specs import local_training

NO_NOISE = "no noise is added: whoever unshuffles an update reads it, and no epsilon holds"
LOCAL_METRICS = "the clients' training losses, which the run's document asks for"


def report_of(document: RunDocument) -> PrivacyReport | None:
    """For a client that takes part in every round; None without noise."""
    noise = document.noise
    if noise.laplace_scale == 0:
        return None
    law = GridLaplace(noise.laplace_scale, noise.grid, document.plan.fixed_point.reach)
    event = ShuffledLaplace(document.plan.geometry, noise.laplace_scale)
    report = privacy_report(
        Release(
            rounds=Rounds(event, document.rounds.count),
            delta=noise.delta,
            accountant=accountant_named(noise.accountant),
            noise=TableSampler(law),
            training=local_training(document.training, noise.clip),
        )
    )
    if not document.local_metrics:
        return report
    return replace(report, notes=(*report.notes, LOCAL_METRICS))
