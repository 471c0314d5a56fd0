"""From epsilon to noise and back."""

import pytest

from fedperm.errors import ParameterError, PrivacyError
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import guarantee, laplace_scale
from fedperm.privacy.registry import ACCOUNTANTS, DEFAULT, accountant_named
from fedperm.windows import Geometry
from tests.privacy.settings_of_the_paper import DELTA, EPSILON, HEAVY, LIGHT, ROUNDS

SMALL = Geometry(d=600, k1=100, k2=2)


@pytest.mark.parametrize("accountant", ACCOUNTANTS, ids=[a.name for a in ACCOUNTANTS])
def test_the_scale_keeps_the_target_and_wastes_little(accountant: Accountant) -> None:
    scale = laplace_scale(accountant, SMALL, 10, 2.0, 1e-6)
    assert 2.0 * 0.99 <= guarantee(accountant, SMALL, 10, scale, 1e-6).epsilon <= 2.0


@pytest.mark.parametrize("geometry", [LIGHT, HEAVY], ids=["light", "heavy"])
def test_round_trip_in_the_papers_settings(geometry: Geometry) -> None:
    scale = laplace_scale(DEFAULT, geometry, ROUNDS, EPSILON, DELTA)
    found = guarantee(DEFAULT, geometry, ROUNDS, scale, DELTA)
    assert EPSILON * 0.995 <= found.epsilon <= EPSILON
    assert found.accountant == "clones-pld"


def test_where_a_bound_does_not_hold_more_noise_is_tried() -> None:
    """The paper's theorem holds only from some noise on; epsilon there is far below the target."""
    accountant = accountant_named("paper")
    scale = laplace_scale(accountant, SMALL, 1, 50.0, 1e-5)
    assert guarantee(accountant, SMALL, 1, scale, 1e-5).epsilon < 2


def test_a_theorem_that_never_holds_is_reported() -> None:
    with pytest.raises(PrivacyError, match="paper"):
        laplace_scale(accountant_named("paper"), Geometry(d=30, k1=3, k2=1), 1, 1.0, 1e-5)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_impossible_targets_are_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError):
        laplace_scale(DEFAULT, SMALL, 10, epsilon, 1e-5)
