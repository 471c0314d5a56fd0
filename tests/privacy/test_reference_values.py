"""Numbers that others computed: the design note's reference values and the paper's noise."""

import pytest

from fedperm.privacy.blanket import bennett, generic_facts, hoeffding, laplace_facts
from fedperm.privacy.calibration import laplace_scale
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
    found = laplace_scale(accountant_named(name), geometry, ROUNDS, EPSILON, DELTA)
    assert found == pytest.approx(scale, rel=tolerance)


@pytest.mark.parametrize("geometry", [LIGHT, HEAVY], ids=["light", "heavy"])
def test_tighter_accountants_need_less_noise_in_this_order(geometry: Geometry) -> None:
    names = ["bennett-pld", "clones-pld", "variation-ratio-pld", "blanket-pld"]
    scales = [
        laplace_scale(accountant_named(name), geometry, ROUNDS, EPSILON, DELTA) for name in names
    ]
    assert scales == sorted(scales, reverse=True)
    assert scales[0] < laplace_scale(accountant_named("paper"), geometry, ROUNDS, EPSILON, DELTA)
