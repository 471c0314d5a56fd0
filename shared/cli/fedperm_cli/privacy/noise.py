"""How much noise: asked for by its scale, by a total epsilon, or by a record-level epsilon."""

import math
from dataclasses import dataclass
from typing import Protocol

from fedperm.errors import ParameterError
from fedperm.noise.law import FINE_GRID, GridLaplace, recommended_grid
from fedperm.normalisation import CENTRE
from fedperm.planner import NOISE_TAIL
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.record_level import LocalTraining, NoRecordBound, laplace_scale_for_record
from fedperm_cli.errors import OptionsError
from fedperm_cli.privacy.settings import TRAINING_OPTIONS, Settings

SMALLEST_SCALE, LARGEST_SCALE = 1e-4, 2e5
"""Outside, the sampler's table would take long to make: its entries grow as 1/b or as b."""


class Noise(Protocol):
    """One way to say how much noise there is to be."""

    def law(self, settings: Settings, accountant: Accountant) -> GridLaplace: ...


@dataclass(frozen=True)
class GivenScale:
    scale: float

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    def law(self, _settings: Settings, _accountant: Accountant) -> GridLaplace:
        return _law(self.scale, recommended_grid(self.scale))


@dataclass(frozen=True)
class ForTotal:
    """The least noise with a total epsilon in the paper's unit, as the accountant counts."""

    epsilon: float

    def __post_init__(self) -> None:
        _check_epsilon("--epsilon", self.epsilon)

    def law(self, settings: Settings, accountant: Accountant) -> GridLaplace:
        scale = laplace_scale(
            accountant, settings.geometry, settings.rounds, self.epsilon, settings.delta
        )
        return _law(scale, recommended_grid(scale))


@dataclass(frozen=True)
class ForRecord:
    """The least noise with an epsilon for each single record; no accountant is asked."""

    epsilon: float
    training: LocalTraining

    def __post_init__(self) -> None:
        _check_epsilon("--record-epsilon", self.epsilon)

    def law(self, settings: Settings, _accountant: Accountant) -> GridLaplace:
        grid = recommended_grid(self._scale(settings, FINE_GRID))
        return _law(self._scale(settings, grid), grid)

    def _scale(self, settings: Settings, grid: int) -> float:
        scale = laplace_scale_for_record(
            self.training,
            epsilon=self.epsilon,
            delta=settings.delta,
            rounds=settings.rounds,
            grid=grid,
        )
        if isinstance(scale, NoRecordBound):
            raise ParameterError(scale.words, "clip each gradient and take one full-batch step")
        return scale


def noise_of(
    epsilon: float | None,
    laplace_scale: float | None,
    record_epsilon: float | None,
    training: LocalTraining | None,
) -> Noise | None:
    """The one way that was chosen; None if none was."""
    chosen: list[Noise] = []
    if epsilon is not None:
        chosen.append(ForTotal(epsilon))
    if laplace_scale is not None:
        chosen.append(GivenScale(laplace_scale))
    if record_epsilon is not None:
        chosen.append(ForRecord(record_epsilon, _required(training)))
    if len(chosen) > 1:
        raise not_exactly_one("the noise is asked for in more than one way")
    return chosen[0] if chosen else None


def not_exactly_one(message: str) -> OptionsError:
    return OptionsError(
        message, "give exactly one of --epsilon, --laplace-scale and --record-epsilon"
    )


def _required(training: LocalTraining | None) -> LocalTraining:
    if training is None:
        raise OptionsError(
            "--record-epsilon needs to know how the client trains",
            f"also give {', '.join(TRAINING_OPTIONS)}",
        )
    return training


def _law(scale: float, grid: int) -> GridLaplace:
    """The law that the planner's fixed point would cut the noise to."""
    _check_scale(scale)
    return GridLaplace(scale, grid, reach=CENTRE + NOISE_TAIL * scale)


def _check_epsilon(option: str, epsilon: float) -> None:
    if not 0 < epsilon < math.inf:
        raise ParameterError(f"{option} is {epsilon:g}", "choose a positive, finite epsilon")


def _check_scale(scale: float) -> None:
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise ParameterError(
            f"the Laplace scale b is {scale:.4g}, in ranges of a parameter",
            f"choose b between {SMALLEST_SCALE:g}, which hides nothing, and {LARGEST_SCALE:g}, "
            "which drowns everything, or an epsilon that asks for such a scale",
        )
