"""Secret keys as bytes: read back exactly, or refused without a word about the input."""

import json
import traceback
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import FedPermError, KeyStrengthError
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes
from tests.keys.secrecy import pieces_shown

KEY = generate_key(Random(3), 128, insecure_for_tests=True)
STORED = secret_key_to_bytes(KEY, SECRET_KEY_ACCESS)
DOCUMENT = json.loads(STORED)


def read(data):
    return secret_key_from_bytes(data, SECRET_KEY_ACCESS, insecure_for_tests=True)


def refusal(data):
    with pytest.raises(FedPermError) as caught:
        read(data)
    error = caught.value
    assert type(error) is KeyStrengthError
    assert error.hint
    assert pieces_shown("".join(traceback.format_exception(error)), KEY) == []
    return error


@given(seed=st.integers(0, 2**32), key_bits=st.sampled_from([64, 128, 256]))
def test_a_key_is_read_back(seed, key_bits):
    key = generate_key(Random(seed), key_bits, insecure_for_tests=True)
    again = read(secret_key_to_bytes(key, SECRET_KEY_ACCESS))
    assert again.factors(SECRET_KEY_ACCESS) == key.factors(SECRET_KEY_ACCESS)
    assert again.public_key == key.public_key


def test_a_2048_bit_key_is_read_back_without_the_test_switch(key_2048):
    stored = secret_key_to_bytes(key_2048, SECRET_KEY_ACCESS)
    again = secret_key_from_bytes(stored, SECRET_KEY_ACCESS)
    assert again.factors(SECRET_KEY_ACCESS) == key_2048.factors(SECRET_KEY_ACCESS)


def test_a_short_key_is_refused_without_the_test_switch():
    with pytest.raises(KeyStrengthError, match="a key of 128 bits"):
        secret_key_from_bytes(STORED, SECRET_KEY_ACCESS)


def test_the_document_holds_its_kind_and_both_primes_in_hexadecimal():
    p, q = map(int, KEY.factors(SECRET_KEY_ACCESS))
    assert {name: DOCUMENT[name] for name in ("kind", "version", "p", "q")} == {
        "kind": "fedperm paillier secret key",
        "version": 1,
        "p": format(p, "x"),
        "q": format(q, "x"),
    }


def test_every_truncation_is_refused():
    for length in range(len(STORED)):
        refusal(STORED[:length])


def test_no_wrong_digit_makes_another_key():
    """One digit in about forty gives another prime: a document must notice that by itself."""
    for name in ("p", "q"):
        digits = DOCUMENT[name]
        for place, right in enumerate(digits):
            for wrong in set("0123456789abcdef") - {right}:
                damaged = digits[:place] + wrong + digits[place + 1 :]
                refusal(json.dumps(DOCUMENT | {name: damaged}).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "another kind"},
        {"kind": None},
        {"version": 2},
        {"version": "1"},
        {"p": int(DOCUMENT["p"], 16)},
        {"p": None},
        {"p": "no digits"},
        {"p": DOCUMENT["p"] + "z"},
        {"p": ""},
        {"p": "-" + DOCUMENT["p"]},
        {"q": DOCUMENT["p"]},
        {"p": [DOCUMENT["p"]]},
    ],
    ids=str,
)
def test_a_changed_document_is_refused(change):
    refusal(json.dumps(DOCUMENT | change).encode())


@pytest.mark.parametrize("name", ["kind", "version", "p", "q"])
def test_a_document_with_a_missing_entry_is_refused(name):
    refusal(json.dumps({key: DOCUMENT[key] for key in DOCUMENT if key != name}).encode())


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{}", b"17", b"\xff\xfe\xfd", b"NaN"])
def test_bytes_of_another_kind_are_refused(data):
    refusal(data)


def test_deeply_nested_bytes_are_refused():
    refusal(b"[" * 100_000)


@given(data=st.binary(max_size=300))
def test_random_bytes_are_refused(data):
    refusal(data)
