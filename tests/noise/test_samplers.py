"""Draws of both samplers against the law: fit, mean, scale, tails, ties and forks."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.opendp_sampler import OpenDPSampler
from fedperm.noise.table_sampler import TableSampler, build_thresholds
from tests.noise.exact_law import FALSE_ALARM, fit, noise_law

Z = 4.9
"""A normal variable is farther out less than once in a million."""

MILLION, SOME = 1_000_000, 100_000


def law_for(laplace_scale: float, grid: int) -> GridLaplace:
    return GridLaplace(laplace_scale, grid, 0.5 + 8 * laplace_scale)


LIGHT, HEAVY, TIGHT, FAINT = (
    law_for(50.95, 256),
    law_for(17.38, 16),
    law_for(0.959, 256),
    law_for(0.01, 256),
)
SHORT = GridLaplace(1.0, 16, 0.5)
"""Cut at about one scale: a third of the draws lie at the ends, so the cut itself is tested."""

CASES = [
    *[pytest.param(TableSampler(law), MILLION) for law in (LIGHT, HEAVY, TIGHT, FAINT, SHORT)],
    *[pytest.param(OpenDPSampler(law), SOME) for law in (TIGHT, SHORT)],
]


def counts_of(draws: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    return np.bincount(draws + limit, minlength=2 * limit + 1)


@pytest.mark.parametrize(("sampler", "count"), CASES)
def test_draws_fit_the_law(sampler: NoiseSampler, count: int, randomness: Random):
    """Chi-square, mean and scale: no false alarm for the table, which is seeded; each at most
    once in a million runs for OpenDP, which cannot be."""
    law = sampler.law
    draws = sampler.draw(count, randomness)
    chances = noise_law(law, law.limit)
    assert draws.shape == (count,)
    assert fit(counts_of(draws, law.limit), chances) > FALSE_ALARM

    values = np.arange(-law.limit, law.limit + 1)
    variance = float(chances @ values**2)
    assert abs(draws.mean()) < Z * (variance / count) ** 0.5
    magnitude = float(chances @ np.abs(values))
    spread = (variance - magnitude**2) / count
    assert abs(np.abs(draws).mean() - magnitude) < Z * spread**0.5


@pytest.mark.parametrize("sampler", [TableSampler(TIGHT), OpenDPSampler(TIGHT)])
def test_the_scale_is_b(sampler: NoiseSampler, randomness: Random):
    """Of Laplace noise, E|noise| = b; the cut at 9 b loses 0.02 % of it."""
    draws = sampler.draw(SOME, randomness) / TIGHT.grid
    b = TIGHT.laplace_scale
    assert abs(np.abs(draws).mean() - b) < Z * b / SOME**0.5 + 0.001 * b


@pytest.mark.parametrize("law", [TIGHT, HEAVY])
def test_tails_fall_by_e_a_scale(law: GridLaplace, randomness: Random):
    draws = np.abs(TableSampler(law).draw(MILLION, randomness))
    for scales in range(1, 8):
        start = round(scales * law.integer_scale)
        expected = MILLION * noise_law(law, law.limit)[law.limit + start :].sum() * 2
        assert abs((draws >= start).sum() - expected) < Z * expected**0.5 + 10


class Script(Random):
    """A generator that says what it was told to say."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        super().__init__(0)
        self._parts = list(parts)

    def randbytes(self, n: int) -> bytes:
        part = self._parts.pop(0)
        assert len(part) == n
        return part


def drawn(law: GridLaplace, uniform: int, sign: int) -> int:
    """The draw that the table makes of one uniform integer; fed the tail only if it asks."""
    bits = build_thresholds(law.integer_scale, law.limit).bits
    octets = uniform.to_bytes(bits // 8, "big")
    leading, rest = octets[:8][::-1], octets[8:]
    tied = (
        int.from_bytes(octets[:8], "big")
        in build_thresholds(law.integer_scale, law.limit).leading.tolist()
    )
    parts = [leading, rest] if tied else [leading]
    return int(TableSampler(law).draw(1, Script([*parts, bytes([sign])]))[0])


@pytest.mark.parametrize("law", [law_for(0.959, 16), FAINT, SHORT])
def test_ties_of_the_leading_word_are_settled_by_the_full_table(law: GridLaplace):
    """At each threshold of m: one below is a draw of at least m, the threshold itself less."""
    table = build_thresholds(law.integer_scale, law.limit)
    for m, threshold in enumerate(reversed(table.ascending), start=1):
        assert drawn(law, threshold - 1, sign=0) == m
        assert drawn(law, threshold, sign=0) == m - 1
        assert drawn(law, threshold - 1, sign=0x80) == -m
    assert drawn(law, 0, sign=0) == law.limit
    assert drawn(law, (1 << table.bits) - 1, sign=0) == 0


def test_the_table_sampler_draws_from_the_given_generator_only():
    sampler = TableSampler(TIGHT)
    first, again, other = (sampler.draw(1000, Random(seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9])
def test_any_number_of_draws(count: int, randomness: Random):
    assert TableSampler(TIGHT).draw(count, randomness).shape == (count,)
    assert OpenDPSampler(TIGHT).draw(count, randomness).shape == (count,)


def test_what_the_report_prints():
    assert TableSampler(TIGHT).name.startswith("integer table of 128 bits (error 6.1e-33")
    assert OpenDPSampler(TIGHT).name == "OpenDP make_laplace on integers (exact)"
    assert OpenDPSampler(TIGHT).eta == 0


@pytest.mark.parametrize("sampler", ["table", "opendp"])
def test_forked_processes_share_no_draws(sampler: str):
    """64 draws of scale 25,600 in each of 7 processes: equal by chance less than once in 2^900."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.noise.forked_draws", sampler]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert len(set(lines)) == 7
    pairs = [set(line.split()) for line in lines]
    assert all(len(a & b) < 8 for i, a in enumerate(pairs) for b in pairs[:i])
