"""From options and the speed of a machine to the plan of a run, with other choices beside it."""

import json
from dataclasses import asdict, dataclass

from fedperm.noise.law import GridLaplace
from fedperm.planner import Plan, plan
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import guarantee
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.rendering import as_json
from fedperm.privacy.report import PrivacyReport
from fedperm.windows import Geometry
from fedperm_cli.average_noise import AverageNoise
from fedperm_cli.plan.choices import Choice, geometries, marked, suggested
from fedperm_cli.plan.forecast import Forecast, forecast
from fedperm_cli.plan.options import PlanOptions
from fedperm_cli.plan.speed import Speed
from fedperm_cli.privacy.answer import report_on
from fedperm_cli.privacy.noise import ForTotal, GivenScale
from fedperm_cli.progress import Steps
from fedperm_cli.run_warnings import run_warnings


@dataclass(frozen=True)
class Answer:
    """`report` is None without noise; `choices` hold the planned cut and others."""

    options: PlanOptions
    plan: Plan
    laplace_scale: float
    speed: Speed
    forecast: Forecast
    report: PrivacyReport | None
    choices: tuple[Choice, ...]

    @property
    def average_noise(self) -> AverageNoise | None:
        if not self.laplace_scale:
            return None
        return AverageNoise(self.laplace_scale, self.options.clients, self.options.rounds)

    @property
    def warnings(self) -> list[str]:
        report = self.report if self.options.says_training else None
        return run_warnings(self.average_noise, self.options.clients, report)

    def to_json(self) -> str:
        geometry, layout = self.plan.geometry, self.plan.layout
        noise = self.average_noise
        members = {
            "d": geometry.d,
            "k1": geometry.k1,
            "k2": geometry.k2,
            "clients": layout.clients,
            "rounds": self.options.rounds,
            "value_bits": self.plan.fixed_point.value_bits,
            **layout.facts,
            "laplace_scale": self.laplace_scale,
            "average_noise": None if noise is None else noise.members(),
            "reasons": list(self.plan.reasons),
            "warnings": self.warnings,
            **asdict(self.forecast),
            "speed": asdict(self.speed),
            "privacy": None if self.report is None else json.loads(as_json(self.report)),
            "choices": [asdict(choice) for choice in self.choices],
        }
        return json.dumps(members)


def check(options: PlanOptions) -> None:
    """Refuses before anything is measured."""
    options.noise()
    accountant_named(options.accountant)


class Planner:
    """For one machine, key and wish."""

    def __init__(self, options: PlanOptions, speed: Speed) -> None:
        self._options = options
        self._speed = speed
        self._noise = options.noise()
        self._accountant: Accountant = accountant_named(options.accountant)

    def answer(self, steps: Steps) -> Answer:
        wanted = self._options.wanted
        cuts = geometries(self._options.d, wanted)
        if wanted is not None and self._options.no_choices:
            cuts = [wanted]
        steps.begin("Weighing k1 and k2", len(cuts))
        choices = []
        for geometry in cuts:
            choices.append(self._weigh(geometry))
            steps.advance()
        return self._planned(wanted or _geometry(suggested(choices), self._options.d), choices)

    def _planned(self, geometry: Geometry, choices: list[Choice]) -> Answer:
        (own,) = [c for c in choices if (c.k1, c.k2) == (geometry.k1, geometry.k2)]
        scale = own.laplace_scale or 0.0
        shape = self._shape(geometry, scale)
        report = None
        if self._noise is not None:
            report = report_on(self._options.settings(geometry), GivenScale(scale))
        cost = forecast(shape, self._speed, self._options.processes)
        return Answer(self._options, shape, scale, self._speed, cost, report, marked(choices))

    def _weigh(self, geometry: Geometry) -> Choice:
        law = self._law(geometry)
        shape = self._shape(geometry, 0.0 if law is None else law.laplace_scale)
        cost = forecast(shape, self._speed, self._options.processes)
        return Choice(
            k1=geometry.k1,
            k2=geometry.k2,
            parameters=geometry.patterns * geometry.superwindow,
            laplace_scale=None if law is None else law.laplace_scale,
            epsilon=None if law is None else self._epsilon(geometry, law),
            cpu_seconds=cost.seconds.of_everybody(self._options.clients),
            upload=cost.bytes.upload,
        )

    def _law(self, geometry: Geometry) -> GridLaplace | None:
        if self._noise is None:
            return None
        return self._noise.law(self._options.settings(geometry), self._accountant)

    def _epsilon(self, geometry: Geometry, law: GridLaplace) -> float:
        """In the paper's unit; not computed where it was asked for."""
        if isinstance(self._noise, ForTotal):
            return self._noise.epsilon
        options = self._options
        given = guarantee(
            self._accountant, geometry, options.rounds, law.laplace_scale, options.delta
        )
        return given.epsilon

    def _shape(self, geometry: Geometry, scale: float) -> Plan:
        options = self._options
        return plan(
            d=geometry.d,
            k1=geometry.k1,
            k2=geometry.k2,
            clients=options.clients,
            laplace_scale=scale,
            scheme=options.scheme,
            value_bits=options.value_bits,
        )


def _geometry(choice: Choice, d: int) -> Geometry:
    return Geometry(d, choice.k1, choice.k2)
