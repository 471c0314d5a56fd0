"""The Laplace scale b that each accountant asks for at the paper's total (epsilon, delta)."""

from dataclasses import dataclass

from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.unshuffled import whole_update
from fedperm_cli.presets import PAPER_DELTA, PAPER_EPSILON, PAPER_ROUNDS, Preset


@dataclass(frozen=True)
class Scale:
    """b, and what a whole update is left with: less noise for the paper's unit is less for it."""

    preset: Preset
    accountant: str
    experimental: bool
    published: bool
    laplace_scale: float
    parameters: int
    whole_update_epsilon: float


def scale_by(accountant: Accountant, preset: Preset) -> Scale:
    geometry = preset.geometry
    scale = laplace_scale(accountant, geometry, PAPER_ROUNDS, PAPER_EPSILON, PAPER_DELTA)
    rounds = Rounds(ShuffledLaplace(geometry, scale), PAPER_ROUNDS)
    return Scale(
        preset=preset,
        accountant=accountant.name,
        experimental=accountant.experimental,
        published=accountant.published,
        laplace_scale=scale,
        parameters=geometry.patterns * geometry.superwindow,
        whole_update_epsilon=whole_update(rounds, PAPER_DELTA),
    )
