"""docs/glossary.md: one word for one thing, and the same words everywhere."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from fedperm.wire.aggregator import RoundState, RunState, SubmissionState
from fedperm_cli.presets import Preset

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs/glossary.md").read_text()
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")]
    if page.name != "glossary.md"
)
"""What people read to use it. Decisions and changes are history, in the words of their day."""


def definitions() -> Sequence[tuple[str, str]]:
    found = re.findall(r"^- \*\*(.+?)\*\*: (.+?)(?=\n- |\n\n)", GLOSSARY, re.DOTALL | re.MULTILINE)
    return [(term, " ".join(text.split())) for term, text in found]


def synonyms() -> Sequence[tuple[str, str]]:
    """The word that is used, and one that is not."""
    _, _, table = GLOSSARY.partition("| say | not |\n|---|---|\n")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    return [(used, other) for used, others in rows for other in others.split(", ")]


TERMS = dict(definitions())


def test_every_term_is_defined_once():
    terms = [term.lower() for term, _ in definitions()]
    assert len(terms) > 50
    assert sorted(terms) == sorted(set(terms))


def test_what_is_said_instead_of_other_words_is_defined():
    assert len(synonyms()) > 20
    assert {used for used, _ in synonyms()} <= set(TERMS)


def test_no_word_is_both_used_and_not_used():
    text = GLOSSARY.partition("## Words that are not used")[0].lower()
    assert [other for _, other in synonyms() if has(text, other)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_another_word_for_it(page):
    text = page.read_text().lower()
    wrong = [f"{other}: say {used}" for used, other in synonyms() if has(text, other)]
    assert wrong == []


def has(text: str, words: str) -> bool:
    """In the singular or plural, also across the end of a line."""
    phrase = r"\s+".join(re.escape(word) for word in words.lower().split())
    return re.search(rf"\b{phrase}s?\b", text) is not None


def test_another_word_is_found_wherever_it_stands():
    assert has("and the private\nkeys of", "private key")
    assert not has("a private keyring", "private key")


def test_states_are_those_of_the_protocol():
    for term, states in (("run", RunState), ("round", RoundState), ("update", SubmissionState)):
        assert set(re.findall(r"`(\w+)`", TERMS[term])) == {str(state) for state in states}


@pytest.mark.parametrize("preset", Preset)
def test_the_two_settings_are_those_of_the_command(preset):
    geometry = preset.geometry
    said = f"k1 = {geometry.k1}, k2 = {geometry.k2}, d = {geometry.d}."
    assert TERMS[str(preset)].endswith(said)


def test_the_nine_rows_are_those_of_the_report():
    """As it stands in docs/privacy.md, where another test compares it with the command."""
    report = (ROOT / "docs/privacy.md").read_text().partition("\nPrivacy of one client")[2]
    printed = re.findall(r"^\d\. (.+?):", report, re.MULTILINE)
    assert re.findall(r"^\d\. (.+)$", GLOSSARY, re.MULTILINE) == printed


def test_bold_words_of_the_tutorial_are_defined():
    tutorial = (ROOT / "docs/tutorial.md").read_text()
    bold = {word.removesuffix("s") for word in re.findall(r"\*\*(.+?)\*\*", tutorial)} - {"bold"}
    assert len(bold) > 5
    assert bold <= set(TERMS)
