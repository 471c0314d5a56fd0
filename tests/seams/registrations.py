"""All parts that tests add to the product's registries."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.schemes.clear import clear_scheme
from tests.uploads.halves import halves_form


@contextmanager
def everything_registered() -> Iterator[None]:
    """While the block lasts."""
    with clear_scheme(), halves_form():
        yield
