"""From options to a run's document: noise calibrated, value bits and norm bound chosen."""

from dataclasses import dataclass, replace

from fedperm.axes import Axes
from fedperm.ids import RunName
from fedperm.noise.law import FINE_GRID, GridLaplace
from fedperm.norm_bound import honest_limit
from fedperm.planner import Plan, plan
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import local_training
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import (
    FrozenDocument,
    KeySpec,
    ModelSpec,
    NoiseSpec,
    NormSpec,
    OperatorKeys,
    RunDocument,
)
from fedperm.schemes.registry import make_scheme
from fedperm.windows import Geometry
from fedperm_cli.average_noise import AverageNoise
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.privacy.settings import Settings
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.privacy import report_of
from fedperm_cli.run.specs import (
    noise_wanted,
    options_in_words,
    required,
    rounds_of,
    shuffle_of,
    task_of,
    training_of,
)
from fedperm_cli.run_warnings import run_warnings


@dataclass(frozen=True)
class PlannedRun:
    """A document, why it is as it is, and what it costs in privacy (None: no noise, no privacy)."""

    document: FrozenDocument
    reasons: tuple[str, ...]
    report: PrivacyReport | None

    @property
    def average_noise(self) -> AverageNoise | None:
        scale, rounds = self.document.content.noise.laplace_scale, self.document.content.rounds
        return AverageNoise(scale, rounds.clients_per_round, rounds.count) if scale else None

    @property
    def warnings(self) -> list[str]:
        rounds = self.document.content.rounds
        return run_warnings(self.average_noise, rounds.min_contributors, self.report)

    def signed_by(self, operator: OperatorIdentity) -> "PlannedRun":
        return replace(self, document=operator.sign(self.document))


def plan_run(
    run: RunName, options: RunOptions, model: ModelSpec, key: KeySpec, operator: OperatorKeys
) -> PlannedRun:
    with options_in_words():
        noise = _noise(options, model)
        shape = _shape(options, model, key, noise)
        content = _document(run, options, model, key, operator, noise, shape)
    return PlannedRun(FrozenDocument.of(content), shape.reasons, report_of(content))


def finished_run(document: FrozenDocument) -> PlannedRun:
    """A document that was written before."""
    return PlannedRun(document, document.content.plan.reasons, report_of(document.content))


def _noise(options: RunOptions, model: ModelSpec) -> NoiseSpec:
    law = _law(options, model)
    return NoiseSpec(
        clip=required("--clip", options.clip),
        laplace_scale=0.0 if law is None else law.laplace_scale,
        grid=FINE_GRID if law is None else law.grid,
        accountant=options.accountant,
        delta=options.delta,
    )


def _law(options: RunOptions, model: ModelSpec) -> GridLaplace | None:
    """A client may be drawn in every round: that not all are is not counted as a gain."""
    accountant = accountant_named(options.accountant)
    amount = noise_wanted(options)
    if amount is None:
        return None
    shuffle = shuffle_of(options)
    settings = Settings(
        geometry=Geometry(model.parameters, shuffle.k1, shuffle.k2),
        rounds=rounds_of(options).count,
        delta=options.delta,
        accountant=options.accountant,
        training=local_training(training_of(options), required("--clip", options.clip)),
    )
    return amount.law(settings, accountant)


def _shape(options: RunOptions, model: ModelSpec, key: KeySpec, noise: NoiseSpec) -> Plan:
    shuffle = shuffle_of(options)
    return plan(
        d=model.parameters,
        k1=shuffle.k1,
        k2=shuffle.k2,
        clients=rounds_of(options).clients_per_round,
        laplace_scale=noise.laplace_scale,
        scheme=make_scheme(
            Axes().scheme, key.parameters, insecure_for_tests=options.insecure_test_key
        ),
        value_bits=options.value_bits,
    )


def _document(
    run: RunName,
    options: RunOptions,
    model: ModelSpec,
    key: KeySpec,
    operator: OperatorKeys,
    noise: NoiseSpec,
    shape: Plan,
) -> RunDocument:
    limit = options.norm_bound
    if limit is None:
        limit = honest_limit(shape.geometry.padded_d, noise.laplace_scale)
    return RunDocument(
        run=run,
        task=task_of(options),
        model=model,
        training=training_of(options),
        shuffle=shuffle_of(options),
        noise=noise,
        value_bits=shape.fixed_point.value_bits,
        norm_bound=NormSpec(limit=limit, form=options.norm_form),
        rounds=rounds_of(options),
        key=key,
        operator=operator,
        local_metrics=options.local_metrics,
        insecure_for_tests=options.insecure_test_key,
    )
