"""One function that chooses value bits and the layout of messages, and says why."""

from dataclasses import dataclass

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.normalisation import CENTRE
from fedperm.schemes.registry import DEFAULT_SCHEME
from fedperm.schemes.scheme import Layout, Scheme
from fedperm.windows import Geometry

NOISE_TAIL = 8
"""The coded interval reaches so many Laplace scales beyond [0, 1]: e^-8 of the draws are cut."""

ROUNDING_SHARE = 1e-3
"""Rounding to B bits may add this share of the noise's own variance."""

MOST_CHOSEN_BITS = 16
"""Without noise, or with next to none, nothing hides the rounding: a step is then 2C/65535."""

SMALLEST_SCALE, LARGEST_SCALE = 1e-9, 1e9
"""Laplace scales that make sense for values normalised to [0, 1]."""


@dataclass(frozen=True)
class Plan:
    """Everything that fixes shapes and arithmetic of a run's messages, and the reasons."""

    geometry: Geometry
    fixed_point: FixedPoint
    scheme: Scheme
    layout: Layout
    reasons: tuple[str, ...]


def plan(
    *,
    d: int,
    k1: int,
    k2: int,
    clients: int,
    laplace_scale: float = 0.0,
    scheme: Scheme = DEFAULT_SCHEME,
    value_bits: int | None = None,
) -> Plan:
    """The cheapest plan whose rounding is negligible beside the noise; any choice can be pinned."""
    if laplace_scale != 0 and not SMALLEST_SCALE <= laplace_scale <= LARGEST_SCALE:
        raise ParameterError(
            f"the Laplace scale b is {laplace_scale}",
            f"choose 0 for no noise, or {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}",
        )
    geometry = Geometry(d, k1, k2)
    reach = CENTRE + NOISE_TAIL * laplace_scale
    chosen_bits = choose_value_bits(reach, laplace_scale) if value_bits is None else value_bits
    fixed_point = FixedPoint(chosen_bits, reach)
    layout = scheme.layout(geometry, chosen_bits, clients)
    reasons = (
        _explain_geometry(geometry),
        _explain_value_bits(fixed_point, laplace_scale, pinned=value_bits is not None),
        *layout.reasons,
    )
    return Plan(geometry, fixed_point, scheme, layout, reasons)


def choose_value_bits(reach: float, laplace_scale: float) -> int:
    """The fewest bits whose rounding adds at most ROUNDING_SHARE of the noise's variance."""
    for bits in range(1, MOST_CHOSEN_BITS):
        if rounding_share(FixedPoint(bits, reach), laplace_scale) <= ROUNDING_SHARE:
            return bits
    return MOST_CHOSEN_BITS


def rounding_share(fixed_point: FixedPoint, laplace_scale: float) -> float:
    """Variance added by stochastic rounding (step^2 / 6 on average) over Laplace's 2 b^2."""
    if laplace_scale == 0:
        return float("inf")
    return (fixed_point.step / laplace_scale) ** 2 / 12


def _explain_geometry(geometry: Geometry) -> str:
    return (
        f"geometry: {geometry.d:,} parameters in {geometry.windows:,} windows of {geometry.k1:,}, "
        f"{geometry.padded_d - geometry.d:,} positions padded; {geometry.patterns} pattern(s), "
        f"superwindows of {geometry.superwindow} parameters"
    )


def _explain_value_bits(fixed_point: FixedPoint, laplace_scale: float, *, pinned: bool) -> str:
    if laplace_scale == 0:
        effect = f"no noise to hide in; a step is 1/{fixed_point.top} of the clip range"
    else:
        share = rounding_share(fixed_point, laplace_scale)
        effect = f"rounding adds {share:.3%} of the variance of the noise (b = {laplace_scale:g})"
    capped = fixed_point.value_bits == MOST_CHOSEN_BITS
    origin = "as asked" if pinned else "the most it chooses" if capped else "the fewest that do"
    return f"values: {fixed_point.value_bits} bits, {origin}: {effect}"
