"""What must hold for every accountant, whatever its bound."""

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import pytest

from fedperm.errors import ParameterError, PreconditionError, UnknownEventError
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import guarantee
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.registry import ACCOUNTANTS, DEFAULT, accountant_named
from fedperm.windows import Geometry

SMALL = Geometry(d=1000, k1=100, k2=2)
JITTER = 1e-3  # relative: the grid of losses moves a little with the parameters

every_accountant = pytest.mark.parametrize(
    "accountant", ACCOUNTANTS, ids=[accountant.name for accountant in ACCOUNTANTS]
)


@dataclass(frozen=True)
class GaussianRounds:
    """An event that nobody here can count."""

    event: object
    count: int


@every_accountant
@pytest.mark.parametrize(
    "event",
    [
        GaussianRounds(ShuffledLaplace(SMALL, 20.0), 3),
        ShuffledLaplace(SMALL, 20.0),
        Rounds(GaussianRounds(None, 1), 3),  # type: ignore[arg-type]
        None,
    ],
)
def test_unknown_events_are_refused(accountant: Accountant, event: Rounds) -> None:
    with pytest.raises(UnknownEventError):
        accountant.guarantee(event, 1e-5)


@every_accountant
@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, float("nan")])
def test_impossible_deltas_are_refused(accountant: Accountant, delta: float) -> None:
    with pytest.raises(ParameterError):
        guarantee(accountant, SMALL, 3, 20.0, delta)


@every_accountant
def test_epsilon_is_finite_and_says_where_it_comes_from(accountant: Accountant) -> None:
    found = guarantee(accountant, SMALL, 3, 20.0, 1e-5)
    assert isfinite(found.epsilon)
    assert found.epsilon > 0
    assert found.delta == 1e-5
    assert found.accountant in {choice.name for choice in ACCOUNTANTS}
    assert found.bound


@every_accountant
def test_more_noise_is_less_epsilon(accountant: Accountant) -> None:
    epsilons = [guarantee(accountant, SMALL, 5, b, 1e-5).epsilon for b in (15, 16, 20, 40, 200)]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[-1] < epsilons[0]


@every_accountant
def test_more_rounds_are_more_epsilon(accountant: Accountant) -> None:
    epsilons = [guarantee(accountant, SMALL, t, 30.0, 1e-5).epsilon for t in (1, 2, 3, 10, 60)]
    assert epsilons == sorted(epsilons)
    assert epsilons[-1] > epsilons[0]


@every_accountant
def test_a_larger_delta_is_less_epsilon(accountant: Accountant) -> None:
    deltas = (1e-9, 1e-7, 1e-5, 1e-3)
    epsilons = [guarantee(accountant, SMALL, 5, 30.0, delta).epsilon for delta in deltas]
    assert epsilons == sorted(epsilons, reverse=True)


@every_accountant
def test_more_positions_never_hurt(accountant: Accountant) -> None:
    """The same superwindow of 5 parameters among more positions."""
    sizes = (60, 120, 240, 960)
    geometries = [Geometry(d=10 * k1, k1=k1, k2=2) for k1 in sizes]
    epsilons = [guarantee(accountant, g, 5, 30.0, 1e-5).epsilon for g in geometries]
    for fewer, more in pairwise(epsilons):
        assert more <= fewer * (1 + JITTER)


@every_accountant
def test_only_the_blanket_is_experimental_and_says_so(accountant: Accountant) -> None:
    assert accountant.experimental == (accountant.name == "blanket-pld")
    assert ("EXPERIMENTAL" in accountant.bound) == accountant.experimental
    assert guarantee(accountant, SMALL, 3, 20.0, 1e-5).experimental == accountant.experimental


def test_the_default_never_asks_an_experimental_accountant() -> None:
    assert not any(choice.experimental for choice in DEFAULT.choices)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 0.2, 1e6, 1e9, 1e18])
def test_extreme_noise_is_still_counted(scale: float) -> None:
    """Far outside of what a run would use, the shuffled accountants fall back or stay tiny."""
    for name in ("default", "bennett-pld", "clones-pld", "variation-ratio-pld"):
        found = guarantee(accountant_named(name), SMALL, 5, scale, 1e-5)
        assert isfinite(found.epsilon)
        assert 0 <= found.epsilon <= 5 * 10 / scale * (1 + 1e-9)


@pytest.mark.parametrize("name", ["paper", "paper-hoeffding", "paper-generic"])
def test_the_papers_theorem_is_not_extrapolated(name: str) -> None:
    """epsilon_w = 5/b must be at most log(100 / log(3/delta_l))/2, about 0.87 here."""
    accountant = accountant_named(name)
    assert guarantee(accountant, SMALL, 1, 5 / 0.8, 1e-7).epsilon > 0
    with pytest.raises(PreconditionError, match="theorem 3"):
        guarantee(accountant, SMALL, 1, 5 / 1.0, 1e-7)


@pytest.mark.parametrize("name", ["bennett-pld", "variation-ratio-pld", "blanket-pld"])
def test_a_delta_that_floating_point_cannot_resolve_gets_the_pure_sum(name: str) -> None:
    found = guarantee(accountant_named(name), SMALL, 5, 3.0, 1e-18)
    assert found.epsilon == pytest.approx(5 * 10 / 3.0)


def test_the_numeric_blanket_refuses_very_long_vectors() -> None:
    with pytest.raises(PreconditionError, match="2000"):
        guarantee(accountant_named("blanket-pld"), Geometry(d=5000, k1=2, k2=1), 1, 1e4, 1e-5)


def test_an_unknown_name_is_answered_with_the_names() -> None:
    with pytest.raises(ParameterError, match=r"clones-pld.*blanket-pld"):
        accountant_named("moments")


def test_two_patterns_are_not_counted_as_more_than_there_are() -> None:
    """Three windows cannot be shuffled by more than three patterns."""
    three, many = Geometry(d=300, k1=100, k2=3), Geometry(d=300, k1=100, k2=50)
    for accountant in ACCOUNTANTS:
        expected = guarantee(accountant, three, 5, 10.0, 1e-5).epsilon
        assert guarantee(accountant, many, 5, 10.0, 1e-5).epsilon == pytest.approx(expected)
