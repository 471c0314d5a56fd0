"""The axes of a run: one table says what goes together, and why the rest does not."""

import pytest
from pydantic import ValidationError

from fedperm.axes import AXES, KEYS, REFUSALS, Axes, combinations, reasons_against
from fedperm.errors import ParameterError
from fedperm_secret.custody import CUSTODIES

BUILT = [words for words in combinations() if not list(reasons_against(words))]
REFUSED = [words for words in combinations() if list(reasons_against(words))]


def named(words: dict[str, str]) -> str:
    return "-".join(words.values())


def test_the_axes_are_those_of_the_document():
    assert list(AXES) == list(Axes.model_fields)


def test_the_defaults_can_be_had():
    assert Axes().model_dump() in BUILT


def test_every_word_is_in_some_combination():
    for axis, registry in AXES.items():
        known = {*registry.names, *registry.reserved}
        assert {words[axis] for words in (*BUILT, *REFUSED)} == known


@pytest.mark.parametrize("words", BUILT, ids=named)
def test_what_the_table_allows_is_a_document(words):
    assert Axes(**words).model_dump() == words


@pytest.mark.parametrize("words", REFUSED, ids=named)
def test_what_the_table_refuses_is_refused_with_every_reason(words):
    reasons = list(reasons_against(words))
    with pytest.raises(ValidationError) as caught:
        Axes(**words)
    for reason in reasons:
        assert reason in str(caught.value)


def test_a_refusal_names_words_that_there_are_and_says_why():
    for refusal in REFUSALS:
        for axis, word in refusal.values.items():
            assert word in {*AXES[axis].names, *AXES[axis].reserved}
        assert len(refusal.reason) > 20


def test_a_word_that_nobody_knows_is_refused_with_those_that_there_are():
    with pytest.raises(ValidationError, match=r"no upload form 'faxes' \(choose one of: masks"):
        Axes(uploads="faxes")


@pytest.mark.parametrize(
    ("axis", "word", "why"),
    [("uploads", "proved", "planned"), ("keys", "threshold", "planned")],
)
def test_a_reserved_word_is_refused_as_such(axis, word, why):
    with pytest.raises(ParameterError, match=f"{word} is not available: .* {why}"):
        AXES[axis][word]


def test_whoever_holds_keys_is_known_on_both_sides():
    """The aggregator validates documents and has no secret room."""
    assert CUSTODIES.names == KEYS.names
    assert CUSTODIES.reserved == KEYS.reserved
