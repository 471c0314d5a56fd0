"""Which accountant may never need more noise than which other, at any parameters."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.calibration import guarantee, laplace_scale
from fedperm.privacy.registry import accountant_named
from fedperm.windows import Geometry

NUMERIC = 1e-6  # relative: above the tolerance to which epsilon is searched for

geometries = st.builds(
    lambda k1, k2, w: Geometry(d=k1 * k2 * w, k1=k1, k2=k2),
    k1=st.integers(2, 1000),
    k2=st.integers(1, 12),
    w=st.integers(1, 30),
)
rounds = st.integers(1, 80)
# epsilon_w from no privacy to speak of to far more than a run needs
epsilons_w = st.floats(0.02, 12)
deltas = st.sampled_from([1e-7, 1e-5, 1e-3])


def at(name: str, geometry: Geometry, count: int, epsilon_w: float, delta: float) -> Guarantee:
    scale = geometry.superwindow / epsilon_w
    return guarantee(accountant_named(name), geometry, count, scale, delta)


@given(geometries, rounds, epsilons_w, deltas)
def test_newer_bounds_are_never_above_older_ones(
    geometry: Geometry, count: int, epsilon_w: float, delta: float
) -> None:
    newest, clones, bennett = (
        at(name, geometry, count, epsilon_w, delta).epsilon
        for name in ("variation-ratio-pld", "clones-pld", "bennett-pld")
    )
    assert newest <= clones * (1 + NUMERIC)
    assert clones <= bennett * (1 + NUMERIC)


@given(geometries, rounds, epsilons_w, deltas)
def test_the_default_is_never_worse_than_not_shuffling(
    geometry: Geometry, count: int, epsilon_w: float, delta: float
) -> None:
    default = at("default", geometry, count, epsilon_w, delta)
    unshuffled = at("no-shuffle-rdp", geometry, count, epsilon_w, delta)
    assert default.epsilon <= unshuffled.epsilon


@given(geometries, rounds, epsilons_w, st.sampled_from(["default", "clones-pld", "bennett-pld"]))
def test_epsilon_falls_with_noise_and_grows_with_rounds(
    geometry: Geometry, count: int, epsilon_w: float, name: str
) -> None:
    here = at(name, geometry, count, epsilon_w, 1e-5).epsilon
    assert at(name, geometry, count, epsilon_w / 1.05, 1e-5).epsilon <= here
    assert at(name, geometry, count + 1, epsilon_w, 1e-5).epsilon >= here * (1 - NUMERIC)


@settings(max_examples=4)
@given(geometries, rounds, st.floats(0.3, 10))
def test_the_order_of_epsilons_is_the_order_of_noise(
    geometry: Geometry, count: int, epsilon: float
) -> None:
    """Calibration turns smaller epsilons into smaller scales, within its stated tolerance."""
    scales = {
        name: laplace_scale(accountant_named(name), geometry, count, epsilon, 1e-5)
        for name in ("default", "variation-ratio-pld", "clones-pld", "bennett-pld")
    }
    unshuffled = laplace_scale(accountant_named("no-shuffle-rdp"), geometry, count, epsilon, 1e-5)
    assert scales["default"] <= unshuffled * 1.001
    assert scales["clones-pld"] <= scales["bennett-pld"] * 1.001
    assert scales["variation-ratio-pld"] <= scales["clones-pld"] * 1.001
