"""One function that chooses value bits, slots, groups and bucket width, and says why."""

from dataclasses import dataclass

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.normalisation import CENTRE
from fedperm.schemes.paillier.multi_exponentiation import best_bucket_bits, multiplications
from fedperm.schemes.paillier.packing import Packing
from fedperm.schemes.paillier.public_key import DEFAULT_KEY_BITS, PublicKey
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
    """Everything that fixes shapes and arithmetic of a run's messages, and the reasons.

    bucket_bits and modmuls are a forecast for folding all clients at once; a fold of fewer
    updates, or in parts, chooses its bucket width by the same function.
    """

    geometry: Geometry
    fixed_point: FixedPoint
    packing: Packing
    bucket_bits: int
    modmuls: int
    reasons: tuple[str, ...]

    @property
    def mask_ciphertexts(self) -> int:
        """Ciphertexts one client encrypts and uploads."""
        return self.geometry.patterns * self.packing.groups * self.geometry.k1

    @property
    def units(self) -> int:
        """Those of them that hold a 1: one a column of each pattern's mask."""
        return self.geometry.patterns * self.geometry.k1

    @property
    def aggregate_ciphertexts(self) -> int:
        """Ciphertexts the aggregator publishes and every client decrypts."""
        return self.geometry.windows * self.packing.groups

    def check_key(self, public_key: PublicKey) -> None:
        """Slots are cut for one key size; under a shorter key sums would wrap round silently."""
        if public_key.key_bits != self.packing.key_bits:
            raise ParameterError(
                f"a key of {public_key.key_bits} bits for a plan of {self.packing.key_bits} bits",
                "plan the run for the key it uses",
            )


def plan(
    *,
    d: int,
    k1: int,
    k2: int,
    clients: int,
    laplace_scale: float = 0.0,
    key_bits: int = DEFAULT_KEY_BITS,
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
    packing = Packing(key_bits, clients, chosen_bits, k1)
    bases, bits = clients * k1, geometry.superwindow * chosen_bits
    bucket_bits = best_bucket_bits(bases, bits)
    modmuls = geometry.patterns * packing.groups * sum(multiplications(bases, bits, bucket_bits))
    reasons = (
        _explain_geometry(geometry),
        _explain_value_bits(fixed_point, laplace_scale, pinned=value_bits is not None),
        _explain_packing(packing),
        f"buckets: digits of {bucket_bits} bits cost the fewest multiplications when {clients} "
        f"updates are folded together, about {modmuls:,}",
    )
    return Plan(geometry, fixed_point, packing, bucket_bits, modmuls, reasons)


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


def _explain_packing(packing: Packing) -> str:
    return (
        f"slots: {packing.slot_bits} bits hold the sum of {packing.clients} client(s), at most "
        f"{packing.top_sum:,}; a {packing.key_bits}-bit plaintext has {packing.slots} of them, "
        f"so a column of {packing.k1:,} rows needs {packing.groups} group(s)"
    )
