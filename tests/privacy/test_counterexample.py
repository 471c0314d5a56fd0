"""Why `variation_ratio` gives the rest of the other messages away.

The published code of the variation-ratio reduction counts zeros and ones only. Here is a
randomizer with ratio p and total variation beta whose shuffle shows more than that count: one
outcome comes from the differing message much oftener than from the others, and gives it away.
"""

from math import exp, log

import numpy as np
import pytest

from fedperm.privacy.clones import variation_ratio
from tests.privacy.shuffled_exactly import Law, Row, hockey_stick, shuffled


def telltale_randomizer(p: float, a: float) -> tuple[Row, Row, Row]:
    """Rows for x, x' and all others: e^epsilon_0 = p, TV(x, x') = (p - 1) a."""
    s = 1 - a * (p + 1)
    t = (1 - 2 * a - s / p) / (p - 1 / p)
    return (p * a, a, s - t, t), (a, p * a, s - t, t), (a, a, (s - t) / p, p * t)


def counts_only(p: float, a: float, n: int) -> tuple[Law, Law]:
    """The published pair: zeros and ones are counted, all else looks alike."""
    s = 1 - a * (p + 1)
    others = [(a, a, 1 - 2 * a)] * (n - 1)
    return shuffled([(p * a, a, s), *others]), shuffled([(a, p * a, s), *others])


CASES = [(p, share / (p + 1), n) for p in (2, 4) for share in (0.1, 0.4, 0.6) for n in (2, 4, 6)]


@pytest.mark.parametrize(("p", "a", "n"), CASES)
def test_the_randomizer_is_what_it_claims_to_be(p: float, a: float, n: int) -> None:
    rows = telltale_randomizer(p, a)
    assert all(sum(row) == pytest.approx(1) for row in rows)
    assert all(min(row) >= 0 for row in rows)
    for left in rows:
        for right in rows:
            assert all(x <= p * y * (1 + 1e-9) for x, y in zip(left, right, strict=True))
    beta = hockey_stick(shuffled([rows[0]]), shuffled([rows[1]]), 0.0)
    assert beta == pytest.approx((p - 1) * a), n


@pytest.mark.parametrize(("p", "a", "n"), CASES)
def test_our_bound_holds_for_it(p: float, a: float, n: int) -> None:
    x, y, other = telltale_randomizer(p, a)
    left, right = shuffled([x, *[other] * (n - 1)]), shuffled([y, *[other] * (n - 1)])
    epsilons = np.linspace(0, 0.98 * log(p), 15)
    bound = variation_ratio(epsilons, log(p), (p - 1) * a, n)
    truth = [hockey_stick(left, right, epsilon) for epsilon in epsilons]
    assert np.all(truth <= bound * (1 + 1e-9))


def test_the_published_count_is_exceeded() -> None:
    """Two messages, p = 2: {zero, other} has a likelihood ratio of 1.66 here, 1.5 by the count."""
    p, a, n, epsilon = 2, 0.05 / 3, 2, log(1.6)
    x, y, other = telltale_randomizer(p, a)
    truth = hockey_stick(shuffled([x, other]), shuffled([y, other]), epsilon)
    published = hockey_stick(*counts_only(p, a, n), epsilon)
    ours = float(variation_ratio(np.array([epsilon]), log(p), (p - 1) * a, n)[0])
    assert published < truth <= ours
    assert exp(epsilon) == pytest.approx(1.6)
