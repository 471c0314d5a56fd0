"""The whole update: rows that need neither shuffle nor keys."""

import pytest

from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.unshuffled import whole_update, whole_update_pure
from fedperm.windows import Geometry
from tests.privacy.settings_of_the_paper import HEAVY


def test_pure_epsilon_counts_padding() -> None:
    pure = whole_update_pure(Rounds(ShuffledLaplace(HEAVY, 16.0), 50))
    assert pure.per_round == 8000 / 16
    assert pure.total == 50 * 8000 / 16


def test_the_design_notes_whole_update_at_the_papers_noise() -> None:
    """806 for d = 7850 without padding (a geometry that has none); padding adds its share."""
    unpadded = Geometry(d=7850, k1=785, k2=10)
    assert whole_update(Rounds(ShuffledLaplace(unpadded, 17.38), 50), 1e-5) == pytest.approx(
        806, rel=0.01
    )
    assert whole_update(Rounds(ShuffledLaplace(HEAVY, 17.38), 50), 1e-5) > 806


@pytest.mark.parametrize("scale", [0.01, 0.959, 17.38, 1e6])
def test_approximate_is_never_above_pure(scale: float) -> None:
    rounds = Rounds(ShuffledLaplace(HEAVY, scale), 50)
    assert whole_update(rounds, 1e-5) <= whole_update_pure(rounds).total
