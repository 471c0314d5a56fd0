"""Numbers that others computed: the design note's reference values and the paper's noise."""

import pytest

from fedperm.privacy.blanket import bennett, generic_facts, hoeffding, laplace_facts
from fedperm.privacy.calibration import guarantee, laplace_scale
from fedperm.privacy.registry import accountant_named
from fedperm.windows import Geometry
from tests.privacy.settings_of_the_paper import DELTA, EPSILON, HEAVY, LIGHT, ROUNDS


@pytest.mark.parametrize(
    ("inequality", "facts", "light", "heavy"),
    [
        (bennett, laplace_facts, 1.19383e-05, 2.33478e-04),
        (hoeffding, laplace_facts, 1.97742e-05, 3.98802e-04),
        (bennett, generic_facts, 8.30356e-02, 9.85228e-02),
        (hoeffding, generic_facts, 1.54814e-02, 2.62847e-02),
    ],
)
def test_blanket_bounds_of_balle_et_al(inequality, facts, light, heavy) -> None:
    assert inequality(facts(0.1, 0.5), 0.1, 400) == pytest.approx(light, rel=5e-6)
    assert inequality(facts(0.05, 0.5), 0.05, 800) == pytest.approx(heavy, rel=5e-6)


@pytest.mark.parametrize(
    ("name", "geometry", "scale", "tolerance"),
    [
        ("paper", LIGHT, 50.95, 0.005),
        ("paper", HEAVY, 17.38, 0.005),
        ("no-shuffle-rdp", LIGHT, 36.38, 0.01),
        ("no-shuffle-rdp", HEAVY, 25.63, 0.01),
        ("blanket-pld", LIGHT, 4.76, 0.02),
        ("blanket-pld", HEAVY, 0.959, 0.02),
    ],
)
def test_laplace_scales_of_the_design_note(
    name: str, geometry: Geometry, scale: float, tolerance: float
) -> None:
    """A little more noise than it says is enough, a little less is not."""
    above, below = (epsilon_of(name, geometry, scale * (1 + t)) for t in (tolerance, -tolerance))
    assert above <= EPSILON < below


@pytest.mark.parametrize("geometry", [LIGHT, HEAVY], ids=["light", "heavy"])
def test_tighter_accountants_need_less_noise_in_this_order(geometry: Geometry) -> None:
    """All at the noise with which one of them gives the paper's total; the paper's own bound, which
    does not hold there, at the noise that it needs itself."""
    names = ["bennett-pld", "clones-pld", "variation-ratio-pld", "blanket-pld"]
    scale = laplace_scale(accountant_named("clones-pld"), geometry, ROUNDS, EPSILON, DELTA)
    epsilons = [epsilon_of(name, geometry, scale) for name in names]
    assert epsilons == sorted(epsilons, reverse=True)
    assert len(set(epsilons)) == len(names)
    papers = laplace_scale(accountant_named("paper"), geometry, ROUNDS, EPSILON, DELTA)
    assert epsilon_of(names[0], geometry, papers) < EPSILON


def epsilon_of(name: str, geometry: Geometry, scale: float) -> float:
    return guarantee(accountant_named(name), geometry, ROUNDS, scale, DELTA).epsilon
