"""One function chooses, and says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import ParameterError
from fedperm.planner import ROUNDING_SHARE, plan, rounding_share
from fedperm.schemes.paillier.scheme import Paillier


@given(
    d=st.integers(1, 10**6),
    k1=st.integers(1, 1000),
    k2=st.integers(1, 20),
    clients=st.integers(1, 500),
    laplace_scale=st.one_of(st.just(0.0), st.floats(1e-6, 1e4)),
    key_bits=st.sampled_from([2048, 3072, 4096]),
)
def test_rounding_is_negligible_and_one_bit_less_would_not_do(
    d, k1, k2, clients, laplace_scale, key_bits
):
    chosen = plan(
        d=d, k1=k1, k2=k2, clients=clients, laplace_scale=laplace_scale, scheme=Paillier(key_bits)
    )
    bits = chosen.fixed_point.value_bits
    share = rounding_share(chosen.fixed_point, laplace_scale)
    assert share <= ROUNDING_SHARE or bits == 16
    if bits > 1:
        fewer = plan(
            d=d, k1=k1, k2=k2, clients=clients, laplace_scale=laplace_scale, value_bits=bits - 1
        )
        assert rounding_share(fewer.fixed_point, laplace_scale) > ROUNDING_SHARE


def test_the_coded_interval_covers_the_noise():
    assert plan(d=9, k1=3, k2=1, clients=2).fixed_point.reach == 0.5
    assert plan(d=9, k1=3, k2=1, clients=2, laplace_scale=2.0).fixed_point.reach == 16.5


def test_light_by_hand():
    light = plan(d=7850, k1=400, k2=1, clients=15, laplace_scale=50.95, value_bits=11)
    assert light.geometry.windows == 20
    assert light.geometry.padded_d == 8000
    assert light.layout.mask_ciphertexts == 400 * 3
    assert light.layout.sum_ciphertexts == 20 * 3
    assert light.layout.modmuls <= 600_000


def test_heavy_by_hand():
    """15 x 255 = 3825 < 2^12; floor(2046 / 12) = 170 slots; ceil(800 / 170) = 5 groups."""
    heavy = plan(d=7850, k1=800, k2=10, clients=15, laplace_scale=17.38)
    assert heavy.fixed_point.value_bits == 8
    assert heavy.layout.mask_ciphertexts == 10 * 800 * 5
    assert heavy.layout.sum_ciphertexts == 10 * 5
    assert heavy.geometry.superwindow == 1


def test_a_run_without_noise_gets_sixteen_bits():
    assert plan(d=9, k1=3, k2=1, clients=2).fixed_point.value_bits == 16


def test_next_to_no_noise_is_not_said_to_hide_the_rounding():
    faint = plan(d=9, k1=3, k2=1, clients=2, laplace_scale=1e-6)
    assert faint.fixed_point.value_bits == 16
    assert "16 bits, the most it chooses" in "\n".join(faint.reasons)


def test_the_plan_explains_every_choice():
    light = plan(d=7850, k1=400, k2=1, clients=15, laplace_scale=50.95)
    text = "\n".join(light.reasons)
    for number in ("20 windows of 400", "150 positions padded", "8 bits", "3,825", "3 group(s)"):
        assert number in text
    assert f"digits of {light.layout.bucket_bits} bits" in text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"clients": 0}, "clients is 0"),
        ({"clients": 2**32}, "clients is 4294967296"),
        ({"laplace_scale": -1.0}, "Laplace scale"),
        ({"laplace_scale": 1e-200}, "Laplace scale"),
        ({"laplace_scale": 1e200}, "Laplace scale"),
        ({"laplace_scale": float("inf")}, "Laplace scale"),
        ({"laplace_scale": float("nan")}, "Laplace scale"),
        ({"value_bits": 21}, "value_bits is 21"),
        ({"k1": 0}, "k1 is 0"),
    ],
)
def test_impossible_parameters_are_refused_with_a_hint(change, what):
    with pytest.raises(ParameterError, match=what) as refusal:
        plan(**({"d": 9, "k1": 3, "k2": 1, "clients": 2} | change))
    assert refusal.value.hint
