"""Each test that asks for a `scheme` runs for every scheme that is registered."""

from collections.abc import Iterator

import pytest

from fedperm.schemes.registry import make_scheme
from fedperm.schemes.scheme import Scheme
from tests.schemes.clear import clear_scheme
from tests.schemes.small import SMALL


@pytest.fixture(params=SMALL)
def scheme(request: pytest.FixtureRequest) -> Iterator[Scheme]:
    with clear_scheme():
        yield make_scheme(request.param, SMALL[request.param], insecure_for_tests=True)
