"""A key server and an aggregator as processes, started once for all tests of a worker."""

from collections.abc import Iterator

import pytest

from tests.cli.operator import Operator
from tests.cli.servers import Servers, running_servers


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with running_servers(tmp_path_factory.mktemp("servers")) as servers:
        yield servers


@pytest.fixture
def operator(servers: Servers) -> Operator:
    """Holds both credentials."""
    return Operator(servers.environment)
