"""`fedperm privacy --figures`: three pictures, and the numbers from which they are drawn."""

from pathlib import Path

import pytest

from fedperm.privacy.registry import ACCOUNTANTS
from fedperm_cli.presets import Preset
from fedperm_cli.privacy.amplification import Curve, Varied
from fedperm_cli.privacy.command import NUMBERS
from fedperm_cli.privacy.figure_numbers import Numbers, numbers_from_json
from fedperm_cli.privacy.scale_figure import draw_scales
from tests.cli.command_line import fedperm

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PICTURES = {
    "amplification-against-k1-and-k2.png",
    "amplification-against-d.png",
    "noise-by-accountant.png",
}
NAMES = [accountant.name for accountant in ACCOUNTANTS]
OWN_PROOF, ON_TRIAL = "variation-ratio-pld", "blanket-pld"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Into which the command has drawn all pictures, once: every accountant takes its time."""
    path = tmp_path_factory.mktemp("figures") / "new" / "out"
    finished = fedperm("privacy", "--figures", str(path))
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == ""
    assert f"figures and their numbers are in {path}\n" in finished.stderr
    return path


@pytest.fixture(scope="module")
def numbers(directory: Path) -> Numbers:
    return numbers_from_json((directory / NUMBERS).read_text())


def varying(numbers: Numbers, varied: Varied) -> list[Curve]:
    return [curve for curve in numbers.curves if curve.varied is varied]


def test_every_picture_is_a_png(directory: Path) -> None:
    assert {path.name for path in directory.iterdir()} == {*PICTURES, NUMBERS}
    for path in directory.glob("*.png"):
        assert path.read_bytes().startswith(PNG_SIGNATURE)


def test_numbers_survive_the_file(numbers: Numbers) -> None:
    assert numbers_from_json(numbers.to_json()) == numbers


def test_the_curves_are_those_of_the_paper(numbers: Numbers) -> None:
    assert [curve.k1 for curve in varying(numbers, Varied.K1)] == [100, 200, 400, 800]
    assert [curve.k2 for curve in varying(numbers, Varied.K2)] == [1, 5, 10]
    assert {(curve.k1, curve.k2) for curve in varying(numbers, Varied.D)} == {(100, 10)}


def test_every_curve_rises(numbers: Numbers) -> None:
    for curve in numbers.curves:
        epsilons = [point.epsilon_l for point in curve.points]
        assert len(epsilons) > 50
        assert epsilons == sorted(epsilons)


@pytest.mark.parametrize("varied", [Varied.K1, Varied.K2])
def test_more_positions_or_patterns_amplify_more(numbers: Numbers, varied: Varied) -> None:
    """The paper's reading of its figure, at epsilon_d = 90, where every curve is drawn."""
    at_90 = [epsilon_l_at(curve, 90) for curve in varying(numbers, varied)]
    assert at_90 == sorted(at_90, reverse=True)


def epsilon_l_at(curve: Curve, epsilon_d: float) -> float:
    """Between the two points around it, linearly."""
    right = next(i for i, point in enumerate(curve.points) if point.epsilon_d >= epsilon_d)
    before, after = curve.points[right - 1], curve.points[right]
    share = (epsilon_d - before.epsilon_d) / (after.epsilon_d - before.epsilon_d)
    return before.epsilon_l + share * (after.epsilon_l - before.epsilon_l)


def test_larger_models_need_smaller_epsilons_per_parameter(numbers: Numbers) -> None:
    """At one epsilon_w the curves agree, and epsilon_wd = epsilon_d/d shrinks as 1/d."""
    first, *others = varying(numbers, Varied.D)
    for curve in others:
        assert [point.epsilon_d for point in curve.points] == pytest.approx(
            [point.epsilon_d for point in first.points]
        )
        assert [point.epsilon_l for point in curve.points] == pytest.approx(
            [point.epsilon_l for point in first.points]
        )


@pytest.mark.parametrize(("preset", "paper"), [(Preset.LIGHT, 50.95), (Preset.HEAVY, 17.38)])
def test_there_is_a_bar_for_every_accountant(
    numbers: Numbers, preset: Preset, paper: float
) -> None:
    bars = {s.accountant: s for s in numbers.scales if s.preset is preset}
    assert list(bars) == NAMES
    assert bars["paper"].laplace_scale == pytest.approx(paper, rel=0.005)
    assert [name for name, bar in bars.items() if bar.experimental] == [ON_TRIAL]
    unpublished = [name for name, bar in bars.items() if not bar.published]
    assert unpublished == [OWN_PROOF, ON_TRIAL]


def test_bars_without_a_published_proof_are_marked(numbers: Numbers) -> None:
    figure = draw_scales(numbers.scales)
    for axes in figure.axes:
        names = [label.get_text() for label in axes.get_yticklabels()]
        hatches = [bar.get_hatch() for bars in axes.containers for bar in bars]
        marked = {name: hatch for name, hatch in zip(names, hatches, strict=True) if hatch}
        assert marked == {
            f"{OWN_PROOF}\n(own proof)": "..",
            f"{ON_TRIAL}\n(experimental)": "///",
        }
        assert len(names) == len(NAMES)
        assert "no shuffling" in names
    caption = figure.get_supxlabel()
    assert "Dotted: proved here, not published" in caption
    assert "Hatched: experimental, not proved" in caption


def test_less_noise_leaves_less_privacy_to_the_whole_update(numbers: Numbers) -> None:
    for preset in Preset:
        bars = sorted(
            (bar for bar in numbers.scales if bar.preset is preset),
            key=lambda bar: bar.laplace_scale,
        )
        epsilons = [bar.whole_update_epsilon for bar in bars]
        assert epsilons == sorted(epsilons, reverse=True)
