"""The record-level guarantee: one client's promise for each of its records.

It needs neither the shuffle nor any key: it holds against the server, against colluding clients
and if the secret key leaks. Adjacency is "replace one record"; the number of records is public.

Sensitivity. One full-batch step gives the update -lr * (mean of m gradients, each clipped to L2
norm G). Replacing a record moves the mean by at most 2G/m; clipping to the box [-C, C] is
non-expansive and normalising divides by 2C: S = (lr * 2G/m) / 2C = lr * G / (m * C) in L2.

Noise. A coordinate that moves by s grows or shrinks the likelihood of any output by at most
e^(s * steepness), so it is (s * steepness)^2 / 2-zCDP (Bun and Steinke 2016, Prop. 3.3), and the
independent coordinates and T rounds add up to rho = T * S^2 * steepness^2 / 2. zCDP composes
adaptively: a round may start from the model that earlier rounds made, with the same S and noise.

Conversion. rho-zCDP is (alpha, rho alpha)-Rényi DP for all alpha > 1 (Bun and Steinke,
"Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds", TCC 2016), which
is (epsilon, delta)-DP by Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential
Privacy" (NeurIPS 2020), Prop. 12.
"""

import math
from dataclasses import dataclass
from numbers import Integral

from fedperm.errors import ParameterError
from fedperm.noise.law import FINE_GRID, exact_delta
from fedperm.privacy.accountant import printed

__all__ = [
    "LocalTraining",
    "NoRecordBound",
    "RecordGuarantee",
    "RecordLevel",
    "RecordRelease",
    "laplace_scale_for_record",
    "record_level",
    "steepness",
    "zcdp_epsilon",
    "zcdp_rho",
]

_COARSEST = 0.01
"""Noise of less than so many grid steps would bound nothing: e^(1/(bN)) passes e^100."""
_SEARCH_STEPS = 100


@dataclass(frozen=True)
class LocalTraining:
    """How a client turns its records into an update; `clip_norm` is the per-example L2 clip G."""

    learning_rate: float
    clip: float
    records: int
    clip_norm: float | None
    local_steps: int = 1
    full_batch: bool = True

    def __post_init__(self) -> None:
        for name, value in (
            ("the learning rate", self.learning_rate),
            ("the clip C", self.clip),
            ("the number of records", self.records),
            ("the per-example clip G", 1.0 if self.clip_norm is None else self.clip_norm),
        ):
            if not (math.isfinite(value) and value > 0):
                raise ParameterError(f"{name} is {value}", "choose a positive number")
        if not isinstance(self.records, Integral):
            raise ParameterError(f"{self.records} records", "count them: a positive whole number")
        if not (isinstance(self.local_steps, Integral) and self.local_steps >= 1):
            raise ParameterError(f"{self.local_steps} local steps", "count at least 1 step")

    @property
    def sensitivity(self) -> float | None:
        """S: how far one record moves the normalised update in L2; None if nothing bounds it."""
        if self.clip_norm is None or self.why_unbounded is not None:
            return None
        exact = self.learning_rate * self.clip_norm / (self.records * self.clip)
        # float64 rounds norms, mean and normalised values. With u = 2^-53, a mean of m gradients of
        # norm at most G, in any order of summing and with all scaling, is off by at most
        # (m + 4) u G to first order (Higham 2002, section 4.2), and two of them by a part
        # m (m + 4) u of 2G/m. Twice m^2 u covers this and all higher orders for 4 < m < 2^50. The
        # millionth is for fewer records and for what does not grow with m: norms over d parameters
        # (d u / 2) and normalised values (2 u sqrt(d) / S).
        float_margin = 1e-6 + float(self.records) ** 2 * 2.0**-52
        return exact * (1 + float_margin)

    @property
    def why_unbounded(self) -> str | None:
        """The first condition that fails, in words."""
        if self.clip_norm is None:
            return "gradients are not clipped per example, so one record may move them all the way"
        if self.local_steps != 1:
            return (
                f"{self.local_steps} local steps: from the second on, one record changes the "
                "gradients of all others"
            )
        if not self.full_batch:
            return "the step uses a minibatch; the bound is for the mean over all records"
        return None


@dataclass(frozen=True)
class RecordGuarantee:
    """What holds for every single record of a client with at least `records` of them."""

    rho: float
    epsilon: float
    delta: float
    records: int

    @property
    def words(self) -> str:
        epsilon, rho = printed(self.epsilon), printed(self.rho)
        return (
            f"replacing one of a client's {self.records:,} records: epsilon {epsilon} at "
            f"delta {self.delta:g} (rho {rho} zCDP); needs neither shuffle nor keys"
        )


@dataclass(frozen=True)
class NoRecordBound:
    """Nothing is promised for a record, and why."""

    reason: str

    @property
    def words(self) -> str:
        return f"no bound: {self.reason}"


RecordLevel = RecordGuarantee | NoRecordBound


@dataclass(frozen=True)
class RecordRelease:
    """How often, and with which noise, a client releases its update."""

    laplace_scale: float
    rounds: int
    grid: int = FINE_GRID
    sampler_epsilon: float = 0.0

    def __post_init__(self) -> None:
        _check_rounds(self.rounds)
        if not (math.isfinite(self.laplace_scale) and self.laplace_scale > 0):
            raise ParameterError(f"the Laplace scale b is {self.laplace_scale}", "choose b > 0")


def record_level(training: LocalTraining, release: RecordRelease, delta: float) -> RecordLevel:
    """The guarantee for one record, or that there is none."""
    sensitivity = training.sensitivity
    if sensitivity is None:
        return NoRecordBound(str(training.why_unbounded))
    moved = sensitivity * steepness(release.laplace_scale, release.grid)
    rho = release.rounds * moved**2 / 2
    extra = release.sampler_epsilon
    epsilon = zcdp_epsilon(rho, exact_delta(delta, extra)) + extra
    return RecordGuarantee(rho, epsilon, delta, training.records)


def laplace_scale_for_record(
    training: LocalTraining, *, epsilon: float, delta: float, rounds: int, grid: int = FINE_GRID
) -> float | NoRecordBound:
    """The smallest b with the wanted record-level epsilon; `training` is the smallest client's."""
    _check_rounds(rounds)
    sensitivity = training.sensitivity
    if sensitivity is None:
        return NoRecordBound(str(training.why_unbounded))
    allowed = math.sqrt(2 * zcdp_rho(epsilon, delta) / rounds) / sensitivity
    return (1 + 1e-12) / (grid * math.log1p(allowed / grid))


def steepness(laplace_scale: float, grid: int) -> float:
    """N (e^(1/(bN)) - 1): bounds |d ln P(output) / dx| after stochastic rounding to the grid.

    For a fixed output, P is linear in x between grid points k/N and proportional to
    h(k) = e^(-|output - k|/(bN)) on them. Its slope is N |h(k+1) - h(k)|, its value at least the
    smaller of the two, and neighbours differ by the factor e^(1/(bN)): the ratio is at most
    N (e^(1/(bN)) - 1). Without a grid this would be 1/b.
    """
    if laplace_scale * grid < _COARSEST:
        raise ParameterError(
            f"a grid of {grid} is far too coarse for noise of scale {laplace_scale:g}",
            "choose a finer grid, or a larger scale",
        )
    return grid * math.expm1(1 / (laplace_scale * grid))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon of rho-zCDP over all orders alpha > 1; every alpha is a valid bound."""
    _check_delta(delta)
    if not (math.isfinite(rho) and rho >= 0):
        raise ParameterError(f"rho is {rho}", "rho is a finite number, at least 0")
    if rho == 0:
        return 0.0
    # The best alpha - 1 is near sqrt(ln(1/delta) / rho): search a wide span of its logarithm.
    middle = math.log(math.log(1 / delta) / rho) / 2
    low, high = middle - 12, middle + 12
    for _ in range(_SEARCH_STEPS):
        third = (high - low) / 3
        if _epsilon_at(low + third, rho, delta) < _epsilon_at(high - third, rho, delta):
            high -= third
        else:
            low += third
    return max(0.0, _epsilon_at((low + high) / 2, rho, delta))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest rho whose epsilon is at most the given one, by bisection."""
    _check_delta(delta)
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"epsilon is {epsilon}", "choose a positive number")
    low, high = 0.0, epsilon
    while zcdp_epsilon(high, delta) < epsilon:
        high *= 2
    for _ in range(_SEARCH_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_epsilon(middle, delta) <= epsilon else (low, middle)
    return low


def _epsilon_at(log_order: float, rho: float, delta: float) -> float:
    """rho alpha + (ln(1/delta) + (alpha-1) ln(1-1/alpha) - ln alpha) / (alpha-1)."""
    less_one = math.exp(log_order)
    alpha = 1 + less_one
    return (
        rho * alpha + (math.log(1 / delta) - math.log(alpha)) / less_one - math.log1p(1 / less_one)
    )


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ParameterError(f"delta is {delta}", "choose delta between 0 and 1, such as 1e-5")


def _check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise ParameterError(f"{rounds} rounds", "count at least 1 round")
