"""Whoever changes, removes, adds or reorders an entry of the audit log breaks its chain."""

import hashlib
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fedperm.audit_chain import START, next_entry, verify_chain
from fedperm.errors import UntrustedError
from fedperm.wire.key_server import AuditEntry

events = st.lists(
    st.tuples(
        st.floats(0, 4e9).map(lambda at: round(at, 3)),
        st.sampled_from(["key-created", "key-released"]),
        st.dictionaries(st.text(max_size=5), st.integers(-9, 9) | st.text(max_size=9), max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def chain_of(events) -> list[AuditEntry]:
    entries, end = [], START
    for at, event, details in events:
        entries.append(next_entry(end, at, event, details))
        end = verify_chain(entries)
    return entries


@given(events)
def test_an_honest_chain_holds_also_after_its_journey_as_json(events):
    entries = chain_of(events)
    arrived = [AuditEntry.model_validate_json(entry.model_dump_json()) for entry in entries]
    assert verify_chain(arrived).hash == entries[-1].hash


def test_the_first_hash_worked_out_by_hand():
    entry = next_entry(START, 1.5, "key-created", {"key": "démo", "bits": 512})
    text = (
        '{"at":1.5,"details":{"bits":512,"key":"d\\u00e9mo"},"event":"key-created","number":1,'
        f'"previous":"{"0" * 64}"}}'
    )
    assert json.loads(text)["details"] == entry.details
    assert entry.hash == hashlib.sha256(text.encode()).hexdigest()


@given(events, st.data())
def test_a_changed_member_is_noticed(events, data):
    entries = chain_of(events)
    place = data.draw(st.integers(0, len(entries) - 1))
    change = data.draw(
        st.sampled_from(
            [
                {"number": 0},
                {"at": 5e9},
                {"event": "key-lost"},
                {"details": {"by": "me"}},
                {"previous": "1" * 64},
                {"hash": "2" * 64},
            ]
        )
    )
    entries[place] = entries[place].model_copy(update=change)
    with pytest.raises(UntrustedError, match="broken"):
        verify_chain(entries)


@given(events, st.data())
def test_an_entry_changed_together_with_its_hash_is_noticed_by_the_next(events, data):
    entries = chain_of(events)
    assume(len(entries) > 1)
    place = data.draw(st.integers(0, len(entries) - 2))
    before = verify_chain(entries[:place])
    entries[place] = next_entry(before, 5e9, "key-lost", {})
    with pytest.raises(UntrustedError, match="does not follow"):
        verify_chain(entries)


@given(events, st.data())
def test_a_removed_or_repeated_entry_is_noticed(events, data):
    entries = chain_of(events)
    assume(len(entries) > 1)
    place = data.draw(st.integers(0, len(entries) - 2))
    for forged in (
        entries[:place] + entries[place + 1 :],
        entries[: place + 1] + entries[place:],
    ):
        with pytest.raises(UntrustedError, match="does not follow"):
            verify_chain(forged)


@given(events, st.randoms())
def test_another_order_is_noticed(events, randomness):
    entries = chain_of(events)
    shuffled = list(entries)
    randomness.shuffle(shuffled)
    assume(shuffled != entries)
    with pytest.raises(UntrustedError, match="does not follow"):
        verify_chain(shuffled)


@given(events, st.data())
def test_a_chain_can_be_verified_in_pieces_and_a_lost_end_is_noticed_by_who_kept_it(events, data):
    entries = chain_of(events)
    cut = data.draw(st.integers(0, len(entries)))
    kept = verify_chain(entries[:cut])
    assert verify_chain(entries[cut:], kept) == verify_chain(entries)
    if cut:
        cut_off_and_grown_again = next_entry(verify_chain(entries[: cut - 1]), 1.0, "new", {})
        with pytest.raises(UntrustedError):
            verify_chain([cut_off_and_grown_again], kept)


def test_an_empty_log_holds():
    assert verify_chain([]) == START
