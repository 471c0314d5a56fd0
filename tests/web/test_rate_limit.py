"""So many at once, then so many a second, for each caller apart."""

import pytest

from fedperm.errors import RateLimitError
from fedperm.web.rate_limit import RateLimit


class MovedClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def limit(clock):
    return RateLimit(burst=3, per_second=0.5, clock=clock)


def test_a_burst_and_no_more(limit):
    for _ in range(3):
        limit.take("a")
    with pytest.raises(RateLimitError) as refused:
        limit.take("a")
    assert refused.value.retry_after_seconds == 2.0


def test_waiting_as_told_is_enough(limit, clock):
    for _ in range(3):
        limit.take("a")
    clock.time += 2.0
    limit.take("a")
    with pytest.raises(RateLimitError):
        limit.take("a")


def test_callers_are_counted_apart(limit):
    for _ in range(3):
        limit.take("a")
    limit.take("b")


def test_a_long_rest_gives_no_more_than_a_burst(limit, clock):
    limit.take("a")
    clock.time += 1e6
    for _ in range(3):
        limit.take("a")
    with pytest.raises(RateLimitError):
        limit.take("a")


def test_a_clock_that_jumps_back_locks_nobody_out(limit, clock):
    for _ in range(3):
        limit.take("a")
    clock.time -= 500
    with pytest.raises(RateLimitError) as refused:
        limit.take("a")
    clock.time += refused.value.retry_after_seconds
    limit.take("a")
