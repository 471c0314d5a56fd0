"""Whoever makes a server warn fills no disk with it."""

import io
import logging

import pytest

from fedperm.logs import configure_logs
from fedperm.web.log_brake import BURST, LOUD, LogBrake, brake_logs
from fedperm.web.rate_limit import RateLimit
from tests.web.test_rate_limit import MovedClock


def warning(name: str = "uvicorn.error", line: int = 1, level: int = logging.WARNING):
    return logging.LogRecord(name, level, "a.py", line, "nonsense came", None, None)


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def brake(clock):
    return LogBrake(RateLimit(2, 1.0, clock))


def test_so_many_lines_and_no_more(brake, clock):
    assert [brake.filter(warning()) for _ in range(5)] == [True, True, False, False, False]
    clock.time += 1.0
    told = warning()
    assert brake.filter(told)
    assert told.left_out == 3
    clock.time += 1.0
    again = warning()
    assert brake.filter(again)
    assert not hasattr(again, "left_out")


def test_one_warning_does_not_drown_another(brake):
    for _ in range(5):
        brake.filter(warning(line=1))
    assert brake.filter(warning(line=2))


@pytest.mark.parametrize(
    "quiet", [warning("fedperm_keyserver.access"), warning(level=logging.INFO)]
)
def test_what_strangers_cannot_cause_is_always_logged(brake, quiet):
    assert all(brake.filter(quiet) for _ in range(5))


def test_the_log_of_a_process_is_braked(clock):
    before, stream = logging.getLogger().handlers[:], io.StringIO()
    try:
        configure_logs("INFO", stream)
        brake_logs(clock)
        for _ in range(BURST + 10):
            for name in LOUD:
                logging.getLogger(f"{name}problems" if name.endswith(".") else name).warning(
                    "again"
                )
            logging.getLogger("fedperm_aggregator").warning("always")
    finally:
        logging.getLogger().handlers[:] = before
    lines = stream.getvalue().splitlines()
    assert sum("always" in line for line in lines) == BURST + 10
    assert sum("again" in line for line in lines) == BURST
