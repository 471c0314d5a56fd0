"""Each test that asks for a `form` and a `scheme` runs for every pair of those that there are."""

from collections.abc import Iterator

import pytest

from fedperm.schemes.registry import make_scheme
from fedperm.schemes.scheme import Scheme
from fedperm.uploads.form import UploadForm
from fedperm.uploads.masks import MASKS
from fedperm.uploads.registry import UPLOAD_FORMS
from tests.schemes.clear import clear_scheme
from tests.schemes.small import SMALL
from tests.uploads.halves import Halves, halves_form

FORMS = (MASKS.name, Halves.name)
"""A form that is missing here is not tested: see test_contract."""


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Iterator[UploadForm]:
    with halves_form():
        yield UPLOAD_FORMS[request.param]


@pytest.fixture(params=SMALL)
def scheme(request: pytest.FixtureRequest) -> Iterator[Scheme]:
    with clear_scheme():
        yield make_scheme(request.param, SMALL[request.param], insecure_for_tests=True)
