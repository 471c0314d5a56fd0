"""Mangled octets are refused in words, or they are another right message. Nothing else: no other
error, no second way to write the same, no long thought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile.mangled import mangled
from tests.hostile.parsers import Parser, parsers
from tests.hostile.reading import read


@pytest.mark.parametrize("parser", parsers(), ids=str)
def test_mangled_octets_are_refused_in_words_or_right(parser: Parser) -> None:
    for right in parser.right:
        assert read(parser, right), "what is right must be taken, or nothing is tested"

    @given(mangled(st.sampled_from(parser.right)) | st.binary(max_size=200))
    def attack(octets: bytes) -> None:
        read(parser, octets)

    attack()
