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


@pytest.fixture
def once(clock):
    return RateLimit(burst=1, per_second=0.5, clock=clock)


def test_ten_thousand_callers_are_remembered(once):
    once.take("first")
    for caller in range(9_999):
        once.take(str(caller))
    with pytest.raises(RateLimitError):
        once.take("first")


def test_beyond_that_the_one_not_seen_for_longest_is_forgotten(once):
    once.take("first")
    once.take("second")
    for caller in range(9_998):
        once.take(str(caller))
    with pytest.raises(RateLimitError):
        once.take("first")  # which was seen just now
    once.take("last")
    for remembered in ("first", "0", "last"):
        with pytest.raises(RateLimitError):
            once.take(remembered)
    once.take("second")


def test_a_refused_request_costs_nothing(limit, clock):
    for _ in range(3):
        limit.take("a")
    for _ in range(5):
        with pytest.raises(RateLimitError):
            limit.take("a")
    clock.time += 2.0
    limit.take("a")


def test_a_part_of_a_request_is_none(limit, clock):
    for _ in range(3):
        limit.take("a")
    clock.time += 1.5
    with pytest.raises(RateLimitError) as refused:
        limit.take("a")
    assert refused.value.retry_after_seconds == 0.5


def test_printing_a_limit_shows_no_callers(limit):
    limit.take("192.0.2.7")
    assert "192.0.2.7" not in repr(limit)
