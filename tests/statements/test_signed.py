"""A statement is what one key signed as one kind, and nothing else."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from fedperm.errors import UntrustedError
from fedperm.wire.signed import LONGEST, claimed_names, sign, unverified, verify
from fedperm.wire.statements import EpochRecord, KeyRelease, Manifest

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
MANIFEST = Manifest(
    run="demo",
    document="0" * 64,
    round=3,
    epoch=1,
    client="client-0",
    sha256="1" * 64,
    size=100,
)


def encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def signed_by_hand(header: dict[str, str], payload: bytes) -> str:
    """RFC 7515 with nothing but Ed25519, so that PyJWT is not its own judge."""
    text = f"{encoded(json.dumps(header).encode())}.{encoded(payload)}"
    return f"{text}.{encoded(KEY.sign(text.encode()))}"


def test_a_signed_statement_comes_back():
    assert verify(sign(MANIFEST, KEY), Manifest, KEY.public_key()) == MANIFEST


def test_signing_is_deterministic_so_that_a_retry_sends_the_same_bytes():
    assert sign(MANIFEST, KEY) == sign(MANIFEST, KEY)


def test_an_outsiders_jws_is_understood():
    payload = json.dumps(MANIFEST.model_dump(), indent=1).encode()
    text = signed_by_hand({"alg": "EdDSA", "typ": "fedperm-manifest+jwt"}, payload)
    assert verify(text, Manifest, KEY.public_key()) == MANIFEST


def test_another_key_does_not_verify():
    with pytest.raises(UntrustedError, match="not signed by the expected key"):
        verify(sign(MANIFEST, OTHER), Manifest, KEY.public_key())


@pytest.mark.parametrize("kind", [EpochRecord, KeyRelease])
def test_a_statement_cannot_be_taken_for_another_kind(kind):
    with pytest.raises(UntrustedError, match="signed as something else"):
        verify(sign(MANIFEST, KEY), kind, KEY.public_key())


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "EdDSA"},
        {"alg": "EdDSA", "typ": "JWT"},
        {"alg": "EdDSA", "typ": "fedperm-manifest+jwt", "kid": "x"},
        {"alg": "none", "typ": "fedperm-manifest+jwt"},
        {"alg": "HS256", "typ": "fedperm-manifest+jwt"},
    ],
    ids=str,
)
def test_only_the_one_header_is_taken(header):
    with pytest.raises(UntrustedError):
        verify(
            signed_by_hand(header, MANIFEST.model_dump_json().encode()), Manifest, KEY.public_key()
        )


@pytest.mark.parametrize(
    "change",
    [{"round": 0}, {"round": "3"}, {"run": "A/../b"}, {"size": None}, {"more": 1}, {"size": 1e400}],
    ids=str,
)
def test_members_must_be_exactly_the_right_ones(change):
    payload = json.dumps({**MANIFEST.model_dump(), **change}).encode()
    text = signed_by_hand({"alg": "EdDSA", "typ": "fedperm-manifest+jwt"}, payload)
    with pytest.raises(UntrustedError, match=r"not with the members|Infinity is no JSON"):
        verify(text, Manifest, KEY.public_key())


HEADER = b'{"alg":"EdDSA","typ":"fedperm-manifest+jwt"}'
PAYLOAD = MANIFEST.model_dump_json().encode()


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        (HEADER, PAYLOAD.replace(b'{"run"', b'{"run":"other","run"')),
        (HEADER.replace(b"{", b'{"alg":"none",'), PAYLOAD),
        (HEADER, PAYLOAD.decode().encode("utf-16")),
    ],
    ids=["a member twice", "a header's member twice", "UTF-16"],
)
def test_what_two_readers_may_read_differently_is_refused_though_it_is_signed(header, payload):
    text = f"{encoded(header)}.{encoded(payload)}"
    signed = f"{text}.{encoded(KEY.sign(text.encode()))}"
    with pytest.raises(UntrustedError, match=r"twice|UTF-8"):
        verify(signed, Manifest, KEY.public_key())


@pytest.mark.parametrize("end", ["=", "==", "\n", "+", ".a"])
def test_there_is_one_way_to_write_a_statement(end):
    with pytest.raises(UntrustedError, match="without padding"):
        verify(sign(MANIFEST, KEY) + end, Manifest, KEY.public_key())


def test_a_signature_is_checked_before_the_members():
    """Whoever cannot sign learns nothing of the form, and nothing is taken apart for it."""
    text = f"{encoded(HEADER)}.{encoded(b'[')}"
    with pytest.raises(UntrustedError, match="not signed by the expected key"):
        verify(f"{text}.{encoded(OTHER.sign(text.encode()))}", Manifest, KEY.public_key())


def test_a_statement_longer_than_any_right_one_is_not_looked_at():
    with pytest.raises(UntrustedError, match="not a JWS"):
        verify("a" * 16384, Manifest, KEY.public_key())
    with pytest.raises(UntrustedError, match="longer than 16384"):
        verify("a" * 16385, Manifest, KEY.public_key())


@given(st.data())
def test_no_changed_character_survives(data):
    text = sign(MANIFEST, KEY)
    place = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.sampled_from("abcXYZ019-_.=+/ \n"))
    changed = text[:place] + character + text[place + 1 :]
    if changed != text:
        with pytest.raises(UntrustedError):
            verify(changed, Manifest, KEY.public_key())


ANY_TEXT = st.text(st.characters(), max_size=300)
"""Lone surrogates too: JSON can hold them."""


@given(ANY_TEXT)
def test_garbage_is_refused_in_words(text):
    with pytest.raises(UntrustedError):
        verify(text, Manifest, KEY.public_key())


def test_what_a_statement_claims_can_be_read_before_its_key_is_known():
    assert unverified(sign(MANIFEST, OTHER), Manifest) == MANIFEST


@given(ANY_TEXT)
@example("\ud800")
def test_a_claim_that_is_no_statement_is_refused_in_words(text):
    with pytest.raises(UntrustedError):
        unverified(text, Manifest)


def test_a_claim_of_other_members_or_of_any_length_is_refused():
    with pytest.raises(UntrustedError, match="signed as something else"):
        unverified(sign(MANIFEST, KEY), KeyRelease)
    with pytest.raises(UntrustedError, match="longer than"):
        unverified("a" * (LONGEST + 1), Manifest)


def test_names_can_be_read_and_nothing_else_of_a_claim():
    """The rest is not looked at: `more` is no member of a manifest."""
    payload = b'{"run":"demo","client":"ada","more":1,"round":3}'
    text = f"{encoded(HEADER)}.{encoded(payload)}.{encoded(bytes(64))}"
    assert claimed_names(text, Manifest, "run", "client") == ("demo", "ada")
    for wrong in ("round", "kind"):
        with pytest.raises(UntrustedError, match=f"without the names run, {wrong}"):
            claimed_names(text, Manifest, "run", wrong)
