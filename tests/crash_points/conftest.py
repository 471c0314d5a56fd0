"""Nurseries, which live as long as a worker of pytest, and the figures in the end."""

from collections.abc import Iterator

import pytest

from fedperm.services import CLIENT, SERVICES
from tests.crash_points.nursery import Nursery
from tests.crash_points.tally import Tally

_FIGURES = "crash points"


@pytest.fixture(scope="session")
def servers() -> Iterator[Nursery]:
    nursery = Nursery(*(service.module for service in SERVICES.values()))
    yield nursery
    nursery.close()


@pytest.fixture(scope="session")
def clients() -> Iterator[Nursery]:
    nursery = Nursery(CLIENT.module)
    yield nursery
    nursery.close()


@pytest.fixture
def tally(record_property) -> Iterator[Tally]:
    tally = Tally()
    yield tally
    record_property(_FIGURES, tally.to_json())
    tally.check()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Of all workers together."""
    total = Tally()
    reports = [one for kind in terminalreporter.stats.values() for one in kind]
    for report in reports:
        for name, figures in getattr(report, "user_properties", ()):
            if name == _FIGURES and report.when == "teardown":
                total.add(Tally.from_json(figures))
    if total.cases:
        terminalreporter.write_line(str(total))
