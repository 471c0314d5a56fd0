"""A key server and an aggregator as processes, started once for all tests of a worker."""

from collections.abc import Iterator

import pytest

from tests.cli.operator import Operator
from tests.cli.servers import Servers, running_servers
from tests.cli.small_run import FinishedRun, finish_run


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with running_servers(tmp_path_factory.mktemp("servers")) as servers:
        yield servers


@pytest.fixture(scope="session")
def operator(servers: Servers) -> Operator:
    """Holds both credentials."""
    return Operator(servers.environment)


@pytest.fixture(scope="session")
def finished_run(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Two clients, two rounds."""
    return finish_run(operator, tmp_path_factory.mktemp("finished"), "finished")
