"""An enrolment token has one text, and its secret is in nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import UnauthenticatedError
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.public_keys import to_text

TOKEN = EnrolmentToken("a1b2", bytes(range(32)), "f" * 64)


def test_a_token_comes_back_from_its_text():
    assert TOKEN.text.startswith("fpt1.a1b2.")
    assert parse_token(TOKEN.text) == TOKEN


def test_printing_a_token_does_not_show_its_secret():
    assert to_text(TOKEN.secret) not in repr(TOKEN)
    assert repr(TOKEN.secret) not in repr(TOKEN)


@pytest.mark.parametrize(
    "text",
    [
        TOKEN.text.replace("fpt1", "fpt2"),
        TOKEN.text + ".",
        TOKEN.text + "=",
        f"fpt1.a.{to_text(bytes(31))}.{'f' * 64}",
        f"fpt1.a.{'A' * 42}B.{'f' * 64}",
        "fpt1.a..b",
        "",
    ],
)
def test_a_text_that_is_no_token_is_refused_and_not_repeated(text):
    with pytest.raises(UnauthenticatedError) as caught:
        parse_token(text)
    assert to_text(TOKEN.secret) not in str(caught.value)


@given(st.text(max_size=200))
def test_garbage_is_refused_in_words(text):
    with pytest.raises(UnauthenticatedError):
        parse_token(text)
