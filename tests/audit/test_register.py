"""What a log must say to be believed: each entry is held against those before it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.audit_chain import START, ChainEnd, next_entry, verify_chain
from fedperm.audit_register import ClientStanding, KeyStanding, TokenStanding, register_of
from fedperm.errors import UntrustedError
from fedperm.wire.key_server import AuditEntry

Event = tuple[str, dict[str, Any]]

IDENTITY: Event = ("identity-created", {"fingerprint": "f" * 64})
KEY: Event = ("key-created", {"key": "demo", "key_bits": 512, "epoch": 1, "key_id": "id-1"})
TOKEN: Event = ("token-minted", {"key": "demo", "token": "t", "uses": 1, "client": None})
ADA: Event = (
    "client-enrolled",
    {
        "key": "demo",
        "client": "ada",
        "ordinal": 0,
        "token": "t",
        "signing_key": "ada signs",
        "sealing_key": "ada opens",
    },
)
RELEASE: Event = (
    "key-released",
    {"key": "demo", "epoch": 1, "key_id": "id-1", "client": "ada", "release_sha256": "0" * 64},
)
REVOKED: Event = ("client-revoked", {"key": "demo", "client": "ada", "epoch": 2})
TOKEN_REVOKED: Event = ("token-revoked", {"key": "demo", "token": "t", "why": "ada was revoked"})
ROTATED: Event = ("key-rotated", {"key": "demo", "epoch": 2, "key_id": "id-2", "why": "so"})
LIFE = [IDENTITY, KEY, TOKEN, ADA, RELEASE, REVOKED, TOKEN_REVOKED, ROTATED]


def chained(events: list[Event]) -> list[AuditEntry]:
    entries, end = [], START
    for kind, details in events:
        entries.append(next_entry(end, 1.0, kind, details))
        end = ChainEnd(entries[-1].number, entries[-1].hash)
    verify_chain(entries)
    return entries


def other(event: Event, **changes: Any) -> Event:
    kind, details = event
    return kind, details | changes


def test_what_is_so_at_the_end_of_a_life():
    register = register_of(chained(LIFE))
    assert register.identities == {"f" * 64: 1}
    assert register.keys == {"demo": KeyStanding(2, "id-2", clients=1)}
    assert register.epochs == {("demo", 1): "id-1", ("demo", 2): "id-2"}
    assert register.tokens == {"t": TokenStanding("demo", 1, None, used=1, revoked=True)}
    ada = ClientStanding(0, "t", "ada signs", "ada opens", revoked_into=2)
    assert register.clients == {("demo", "ada"): ada}


def with_token(event: Event, name: str) -> Event:
    kind, details = event
    return kind, details | {"token": name}


BEN = with_token(other(ADA, client="ben", ordinal=1, signing_key="ben signs"), "u")
SECOND = with_token(TOKEN, "u")


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([IDENTITY, IDENTITY], "made once"),
        ([KEY, KEY], "there is a key"),
        ([other(KEY, epoch=2)], "begins with epoch 1"),
        ([ROTATED], "there is no key"),
        ([KEY, other(ROTATED, epoch=3)], "after epoch 1 comes 2"),
        ([TOKEN], "there is no key"),
        ([KEY, TOKEN, TOKEN], "there is a token"),
        ([KEY, TOKEN_REVOKED], "no token t was minted"),
        ([KEY, TOKEN, TOKEN_REVOKED, TOKEN_REVOKED], "was revoked before"),
        ([KEY, ADA], "no token t was minted"),
        ([KEY, other(KEY, key="b", key_id="b"), other(TOKEN, key="b"), ADA], "no token t was"),
        ([KEY, TOKEN, TOKEN_REVOKED, ADA], "revoked, used up or for somebody else"),
        ([KEY, TOKEN, ADA, with_token(BEN, "t")], "revoked, used up or for somebody else"),
        ([KEY, other(TOKEN, client="ben"), ADA], "revoked, used up or for somebody else"),
        ([KEY, TOKEN, SECOND, ADA, other(BEN, client="ada")], "not the next client"),
        ([KEY, TOKEN, SECOND, ADA, other(BEN, ordinal=0)], "not the next client"),
        ([KEY, TOKEN, SECOND, ADA, other(BEN, signing_key="ada signs")], "enrolled already"),
        ([KEY, RELEASE], "never enrolled"),
        ([KEY, REVOKED], "never enrolled"),
        ([KEY, TOKEN, ADA, REVOKED, RELEASE], "was revoked before"),
        ([KEY, TOKEN, ADA, REVOKED, REVOKED], "was revoked before"),
        ([KEY, TOKEN, ADA, other(RELEASE, epoch=2)], "no such epoch 2"),
        ([KEY, TOKEN, ADA, other(RELEASE, key_id="id-2")], "no such epoch 1"),
        ([("key-created", {"key": "demo"})], "details are not those of its kind"),
        ([KEY, other(TOKEN, uses="many")], "details are not those of its kind"),
    ],
)
def test_an_entry_that_contradicts_those_before_it_is_named(events: list[Event], why: str):
    entries = chained(events)
    register_of(entries[:-1])
    with pytest.raises(UntrustedError, match=why) as caught:
        register_of(entries)
    assert f"entry {len(entries)} ({entries[-1].event})" in caught.value.message


@given(st.integers(1, len(LIFE) - 1))
def test_a_draft_goes_on_as_the_register_would_and_leaves_it_as_it_is(cut: int):
    entries = chained(LIFE)
    register, before = register_of(entries[:cut]), register_of(entries[:cut])
    draft = register.draft()
    draft.take_all(entries[cut:])
    assert register == before
    whole = register_of(entries)
    assert dict(draft.clients) == whole.clients
    assert dict(draft.tokens) == whole.tokens
    assert dict(draft.keys) == whole.keys


@given(st.integers(1, 4))
def test_without_one_of_its_first_entries_a_life_makes_no_sense(missing: int):
    """Chained anew, it is unbroken all the same."""
    events = [event for place, event in enumerate(LIFE) if place != missing]
    if LIFE[missing] == RELEASE:
        register_of(chained(events))  # it is for the marks and the heads to tell
        return
    with pytest.raises(UntrustedError, match="contradicts"):
        register_of(chained(events))


def test_kinds_that_are_not_known_say_nothing():
    entries = chained([KEY, ("weather-changed", {"key": "demo"}), TOKEN])
    assert register_of(entries).tokens.keys() == {"t"}


def test_what_the_key_server_found_is_listed():
    entries = chained([KEY, ("tampering-found", {"table": "clients", "row": "demo/m", "why": "x"})])
    (finding,) = register_of(entries).findings
    assert (finding.number, finding.table, finding.row) == (2, "clients", "demo/m")
