"""The decision who may enrol, as laws over whatever may be known."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import GoneError, UnauthenticatedError
from fedperm_keyserver.admission import generated_name, is_generated_name, judge
from fedperm_keyserver.records import (
    Admitted,
    Attempt,
    Client,
    Known,
    Refused,
    Repeated,
    Token,
)

SECRET = hashlib.sha256(b"secret").digest()
NOW = 1000.0
ATTEMPT = Attempt("demo", "t", SECRET, "signing", "sealing")

tokens = st.builds(
    Token,
    id=st.just("t"),
    key=st.just("demo"),
    secret_sha256=st.just(SECRET),
    uses=st.integers(1, 3),
    used=st.integers(0, 3),
    expires_at=st.sampled_from([NOW - 1, NOW, NOW + 1]),
    revoked=st.booleans(),
    client=st.none() | st.just("hospital-a"),
).filter(lambda token: token.used <= token.uses)
holders = st.none() | st.builds(
    Client,
    key=st.just("demo"),
    name=st.just("client-0"),
    ordinal=st.just(0),
    token=st.sampled_from(["t", "another"]),
    signing_key=st.just("signing"),
    sealing_key=st.sampled_from(["sealing", "another"]),
    enrolled_at=st.just(NOW - 5),
)
knowledge = st.builds(
    Known, token=tokens, holder=holders, name_is_taken=st.booleans(), clients=st.integers(0, 9)
)


def verdict(known: Known, attempt: Attempt = ATTEMPT):
    try:
        return judge(attempt, known, NOW)
    except GoneError:
        return "gone"


@given(knowledge)
def test_who_is_let_in_has_a_live_token_and_a_key_and_name_of_his_own(known):
    found = verdict(known)
    if isinstance(found, Admitted):
        assert known.token.is_live(NOW)
        assert known.holder is None
        assert not known.name_is_taken
        assert found.client.ordinal == known.clients
        assert found.client.name == known.token.client or known.token.client is None
        assert (found.client.token, found.client.enrolled_at) == ("t", NOW)


@given(knowledge)
def test_a_live_token_lets_in_whoever_has_keys_of_his_own(known):
    if known.token.is_live(NOW) and known.holder is None and not known.name_is_taken:
        assert isinstance(verdict(known), Admitted)


@given(knowledge)
def test_whoever_is_enrolled_by_this_token_with_these_keys_is_answered_again(known):
    holder = known.holder
    same = holder is not None and (holder.token, holder.sealing_key) == ("t", "sealing")
    assert isinstance(verdict(known), Repeated) == same


@given(knowledge)
def test_a_used_single_use_token_in_other_hands_is_always_recorded(known):
    known = replace(known, holder=None, token=replace(known.token, uses=1, used=1))
    assert isinstance(verdict(known), Refused)


@given(knowledge, st.binary(min_size=32, max_size=32))
def test_without_the_secret_nothing_else_matters(known, secret):
    stranger = replace(ATTEMPT, secret_sha256=hashlib.sha256(secret).digest())
    for unknown in (replace(known, token=None), known):
        with pytest.raises(UnauthenticatedError):
            verdict(unknown, stranger)


@given(st.integers(0, 10**6))
def test_generated_names_are_recognised(ordinal):
    assert is_generated_name(generated_name(ordinal))


@pytest.mark.parametrize("name", ["client", "client-", "client-a", "client-1a", "aclient-1", "1"])
def test_other_names_are_not(name):
    assert not is_generated_name(name)
