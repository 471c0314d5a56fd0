"""The numbers in a file, and the pictures drawn from that file."""

from collections.abc import Sequence
from pathlib import Path

from fedperm.privacy.accountant import Accountant
from fedperm.privacy.registry import ACCOUNTANTS
from fedperm_cli.presets import Preset
from fedperm_cli.privacy.amplification import PLACES, amplification
from fedperm_cli.privacy.figure_numbers import Numbers, numbers_from_json
from fedperm_cli.privacy.scales import scale_by
from fedperm_cli.progress import Steps


def illustrate(
    path: Path, steps: Steps, accountants: Sequence[Accountant] = ACCOUNTANTS
) -> list[Path]:
    """The numbers, written to `path`, and the pictures beside it."""
    numbers = _numbers(steps, accountants)
    path.write_text(numbers.to_json() + "\n")
    return draw_from(path)


def draw_from(path: Path) -> list[Path]:
    """The pictures of the numbers in this file, drawn beside it."""
    from fedperm_cli.privacy.figures import draw_figures  # noqa: PLC0415  (needs matplotlib)

    return draw_figures(numbers_from_json(path.read_text()), path.parent)


def _numbers(steps: Steps, accountants: Sequence[Accountant]) -> Numbers:
    steps.begin("Counting", len(PLACES) + len(Preset) * len(accountants))
    curves, scales = [], []
    for varied, geometry in PLACES:
        curves.append(amplification(varied, geometry))
        steps.advance()
    for preset in Preset:
        for accountant in accountants:
            scales.append(scale_by(accountant, preset))
            steps.advance()
    return Numbers(tuple(curves), tuple(scales))
