"""What tests register is there for a test, and gone after it."""

from contextlib import suppress

import pytest

from fedperm.axes import AXES
from fedperm.errors import ParameterError
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from tests.schemes.clear import Clear
from tests.seams.registrations import everything_registered
from tests.uploads.halves import Halves


def names() -> dict[str, tuple[str, ...]]:
    return {axis: registry.names for axis, registry in AXES.items()}


def test_parts_are_known_while_the_block_lasts():
    before = names()
    with everything_registered():
        assert names()["scheme"] == (*before["scheme"], Clear.name)
        assert names()["uploads"] == (*before["uploads"], Halves.name)
        assert Clear.name in SECRET_SCHEMES.names
    assert names() == before
    assert Clear.name not in SECRET_SCHEMES.names


def test_a_failure_undoes_them_too():
    before = names()
    with suppress(AssertionError), everything_registered():
        raise AssertionError
    assert names() == before


def test_no_part_takes_the_place_of_another():
    with everything_registered():
        before = names()
        for registry in AXES.values():
            for name in (*registry.names, *registry.reserved):
                with pytest.raises(ParameterError, match="already"):
                    registry.register(name, object())
        assert names() == before
