"""docs/threat-model.md: every threat names tests that end as it says, and no attack is left out."""

from tests.adversary.threat_table import (
    LAST,
    NOT_COVERED,
    VERDICTS,
    file_of,
    threats,
    tried,
    verdict_of,
)


def test_every_threat_was_tried_and_ends_as_the_document_says():
    for threat in threats():
        assert threat.said in VERDICTS, threat
        assert {verdict_of(test) for test in threat.tests} == {threat.said}, threat


def test_every_test_that_the_document_names_exists():
    named = {test for threat in threats() for test in threat.tests}
    assert named - set(tried()) == set()


def test_every_attack_is_in_the_document_once():
    named = [test for threat in threats() for test in threat.tests]
    assert sorted(named) == sorted(tried())


def test_a_sections_attackers_are_in_the_file_of_its_name():
    files = tried()
    for threat in threats():
        if threat.section != LAST:
            assert {files[test] for test in threat.tests} == {file_of(threat.section)}, threat


def test_what_is_not_covered_is_said_at_the_end_and_nowhere_else():
    assert {t.section for t in threats() if t.said == NOT_COVERED} == {LAST}
    assert len([t for t in threats() if t.section == LAST]) >= 12
