"""Texts of others: whatever does not print is written out."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.plain_text import cut, one_line, visible, visible_json

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b\x9b\x7f\u202e\r\n\t")
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, and accented: é ≤ 漢", "plain, and accented: é ≤ 漢"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b\x90\x7f\x00\r", r"\x9b\x90\x7f\x00\r"),
        ("\u202eabc\u2066\u200b\ufeff", r"\u202eabc\u2066\u200b\ufeff"),
        ("\u2028\U000e0041\udc80", r"\u2028\U000e0041\udc80"),
        ("two\n\tlines", "two\n\tlines"),
    ],
)
def test_what_does_not_print_is_written_out(text, shown):
    assert visible(text) == shown
    assert one_line(text) == shown.replace("\n", r"\n").replace("\t", r"\t")


@given(TEXTS)
def test_nothing_is_left_that_a_terminal_obeys(text):
    for shown in (visible(text), one_line(text), visible_json(text)):
        left = {char for char in shown if char not in "\n\t"}
        assert not {unicodedata.category(char) for char in left} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert one_line(text).isprintable()
    assert visible(visible(text)) == visible(text)


@given(TEXTS)
def test_json_says_the_same(text):
    written = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(visible_json(written)) == {"text": text}


@given(TEXTS, st.integers(2, 50))
def test_a_cut_text_has_its_beginning_and_its_end(text, most):
    shown = cut(text, most)
    if len(text) <= most:
        assert shown == text
    else:
        assert shown.startswith(text[: most // 2])
        assert shown.endswith(text[-(most // 2) :])
        assert len(shown) <= most + len(f" [{len(text):,} characters] ")
