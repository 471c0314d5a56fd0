"""The randomizer: the law of what it sends, padding, range, bias, and where it draws from."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.opendp_sampler import OpenDPSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.normalisation import denormalise, normalise
from fedperm.planner import plan
from fedperm.randomizer import Randomizer, round_to_grid
from fedperm.randomness import from_operating_system
from fedperm.windows import Geometry
from tests.noise.exact_law import FALSE_ALARM, fit
from tests.randomizer.coded_law import coded_law

CLIP = 0.01
COUNT = 200_000
Z = 4.9
"""A normal variable is farther out less than once in a million."""


def randomizer(
    laplace_scale: float, *, grid: int = 16, d: int = COUNT, k1: int = 1000
) -> Randomizer:
    run = plan(d=d, k1=k1, k2=1, clients=3, laplace_scale=laplace_scale)
    law = GridLaplace(laplace_scale, grid, run.fixed_point.reach)
    return Randomizer(CLIP, run.geometry, run.fixed_point, noise=TableSampler(law))


@pytest.mark.parametrize("laplace_scale", [0.05, 0.959, 17.38])
@pytest.mark.parametrize("value", [-0.02, -0.01, -0.0043, 0.0, 0.0071, 0.01])
def test_coded_values_follow_the_law_of_their_definition(laplace_scale, value, randomness):
    one = randomizer(laplace_scale)
    assert one.noise is not None
    coded = one.randomize(np.full(COUNT, value), randomness)
    x = float(normalise(np.array([value]), CLIP)[0])
    chances = coded_law(x, one.noise.law, one.fixed_point)
    assert fit(np.bincount(coded.ravel(), minlength=len(chances)), chances) > FALSE_ALARM


def test_the_law_is_the_same_with_opendp():
    run = plan(d=20_000, k1=1000, k2=1, clients=3, laplace_scale=0.959)
    law = GridLaplace(0.959, 16, run.fixed_point.reach)
    one = Randomizer(CLIP, run.geometry, run.fixed_point, noise=OpenDPSampler(law))
    coded = one.randomize(np.full(20_000, 0.0071), from_operating_system())
    chances = coded_law(0.855, law, run.fixed_point)
    assert fit(np.bincount(coded.ravel(), minlength=len(chances)), chances) > FALSE_ALARM


def test_padded_positions_are_noised_like_a_value_of_one_half(randomness):
    """One parameter at +C, all the rest padding: it looks as if the client sent zeros there."""
    one = randomizer(0.959, d=1, k1=COUNT)
    assert one.noise is not None
    coded = one.randomize(np.array([CLIP]), randomness)
    assert coded.shape == (1, COUNT)
    chances = coded_law(0.5, one.noise.law, one.fixed_point)
    assert fit(np.bincount(coded[0, 1:], minlength=len(chances)), chances) > FALSE_ALARM


@pytest.mark.parametrize("laplace_scale", [0.05, 0.959, 50.95])
@pytest.mark.parametrize("value", [-0.01, -0.0043, 0.0, 0.01])
def test_the_mean_after_denormalising_is_the_update(laplace_scale, value, randomness):
    """z-test with a false alarm once in a million, plus the clamp's bias of b e^-8 / 2."""
    one = randomizer(laplace_scale, grid=256)
    coded = one.randomize(np.full(COUNT, value), randomness)
    sent = denormalise(one.fixed_point.decode_mean(coded, 1), CLIP)
    bias = 2 * CLIP * laplace_scale * np.exp(-8) / 2
    assert abs(sent.mean() - value) < Z * sent.std() / COUNT**0.5 + bias


@pytest.mark.parametrize("grid", [1, 16, 256])
def test_rounding_to_the_grid_takes_a_neighbour_and_keeps_the_mean(grid, randomness):
    values = np.linspace(0, 1, COUNT)
    steps = round_to_grid(values, grid, randomness)
    assert steps.dtype == np.int64
    assert (np.abs(steps - values * grid) < 1).all()
    assert steps.min() >= 0
    assert steps.max() <= grid
    assert abs((steps - values * grid).mean()) < Z * 0.5 / COUNT**0.5


@given(
    laplace_scale=st.floats(0.01, 100),
    value_bits=st.integers(1, 20),
    grid=st.sampled_from([1, 2, 16, 256]),
    d=st.integers(1, 50),
    k1=st.integers(1, 20),
    seed=st.integers(0, 2**32),
    data=st.data(),
)
def test_any_update_becomes_windows_of_b_bits(laplace_scale, value_bits, grid, d, k1, seed, data):
    update = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=d, max_size=d)))
    code, shape = FixedPoint(value_bits, 0.5 + 8 * laplace_scale), Geometry(d, k1, 1)
    noise = TableSampler(GridLaplace(laplace_scale, grid, code.reach))
    coded = Randomizer(CLIP, shape, code, noise).randomize(update, Random(seed))
    assert coded.shape == (shape.windows, k1)
    assert coded.dtype == code.dtype
    assert coded.max() <= code.top


def test_values_at_the_ends_of_the_grid_survive_exactly():
    """0 and 1 lie on the grid: no randomness can move them."""
    steps = round_to_grid(np.array([0.0, 0.25, 1.0]), 16, from_operating_system())
    assert steps.tolist() == [0, 4, 16]


def test_without_noise_only_the_coding_rounds():
    run = plan(d=5, k1=3, k2=1, clients=3)
    one = Randomizer(CLIP, run.geometry, run.fixed_point, noise=None)
    coded = one.randomize(np.array([-1.0, -CLIP, 0.0, CLIP / 3, 1.0]), Random(0))
    sent = denormalise(run.fixed_point.decode_mean(coded, 1), CLIP)
    assert run.geometry.unpad(sent) == pytest.approx(
        [-CLIP, -CLIP, 0, CLIP / 3, CLIP], abs=2 * CLIP / 65535
    )


def test_noise_cut_inside_the_coded_interval_is_refused():
    run = plan(d=5, k1=5, k2=1, clients=3, laplace_scale=2.0)
    noise = TableSampler(GridLaplace(2.0, 16, run.fixed_point.reach / 2))
    with pytest.raises(ParameterError, match="the noise is cut for a reach"):
        Randomizer(CLIP, run.geometry, run.fixed_point, noise)


SMALL = GridLaplace(0.959, 256, 0.5 + 8 * 0.959)


@pytest.mark.parametrize("noise", [TableSampler(SMALL), OpenDPSampler(SMALL)])
def test_numpys_global_state_is_neither_read_nor_moved(noise: NoiseSampler):
    one = Randomizer(CLIP, Geometry(300, 100, 1), FixedPoint(12, SMALL.reach), noise)
    outputs, states = [], []
    for _ in range(2):
        np.random.seed(1)
        outputs.append(one.randomize(np.zeros(300), from_operating_system()))
        states.append(np.random.random())
    assert (outputs[0] != outputs[1]).any()
    assert states[0] == states[1] == np.random.RandomState(1).random()


def test_the_same_generator_gives_the_same_windows():
    one = randomizer(0.959, d=300, k1=100)
    first, again, other = (one.randomize(np.zeros(300), Random(seed)) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()
