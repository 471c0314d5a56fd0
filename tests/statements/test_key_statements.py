"""Epoch records vouch for a public key; releases carry its secret half to one client only."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from gmpy2 import mpz
from pydantic import ValidationError

from fedperm.errors import KeyStrengthError, UnauthenticatedError, UntrustedError
from fedperm.wire.public_keys import fingerprint, from_text, sealing_key, text_of, to_text
from fedperm.wire.statements import (
    CLOCK_LEEWAY_SECONDS,
    ClientAssertion,
    EpochRecord,
    SchemeSpec,
)
from fedperm_secret.schemes.paillier.decryption import Decryptor
from tests.keys.sealing import open_key, seal_key

RECIPIENT = X25519PrivateKey.from_private_bytes(bytes(range(32)))
PLACE = {"key": "demo", "epoch": 2, "client": "client-0"}


def record_of(key, **change) -> EpochRecord:
    members = {
        "key": "demo",
        "epoch": 1,
        "scheme": SchemeSpec.of_bits(key.key_bits),
        "public": dict(key.material),
        "key_id": key.key_id,
        "iat": 0,
    }
    return EpochRecord(**{**members, **change})


def test_an_epoch_record_gives_the_public_key(small_key):
    record = record_of(small_key.public_key)
    assert record.public_key(insecure_for_tests=True) == small_key.public_key


def test_a_short_key_needs_the_switch(small_key):
    with pytest.raises(KeyStrengthError):
        record_of(small_key.public_key).public_key()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"scheme": SchemeSpec.of_bits(1024)}, KeyStrengthError),
        ({"key_id": "0" * 64}, UntrustedError),
    ],
    ids=str,
)
def test_a_record_must_name_the_key_it_holds(small_key, change, error):
    with pytest.raises(error):
        record_of(small_key.public_key, **change).public_key(insecure_for_tests=True)


def test_a_sealed_key_opens_for_its_client_and_decrypts(small_key):
    sealed = seal_key(small_key, RECIPIENT.public_key(), **PLACE)
    opened = open_key(sealed, RECIPIENT, **PLACE)
    public = small_key.public_key
    ciphertext = public.encrypt(mpz(41), public.blinding_factor(mpz(7)))
    assert Decryptor(opened).decrypt(ciphertext) == 41


@pytest.mark.parametrize(
    "change", [{"key": "other"}, {"epoch": 1}, {"client": "client-1"}], ids=str
)
def test_a_sealed_key_opens_nowhere_else(small_key, change):
    sealed = seal_key(small_key, RECIPIENT.public_key(), **PLACE)
    with pytest.raises(UntrustedError):
        open_key(sealed, RECIPIENT, **{**PLACE, **change})


def test_a_sealed_key_opens_for_nobody_else(small_key):
    sealed = seal_key(small_key, RECIPIENT.public_key(), **PLACE)
    with pytest.raises(UntrustedError):
        open_key(sealed, X25519PrivateKey.generate(), **PLACE)


def test_a_changed_or_cut_sealed_key_does_not_open(small_key):
    sealed = seal_key(small_key, RECIPIENT.public_key(), **PLACE)
    flipped = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for wrong in (flipped, sealed[:-1], sealed[:10], b""):
        with pytest.raises(UntrustedError):
            open_key(wrong, RECIPIENT, **PLACE)


def test_sealing_twice_shows_nothing_in_common(small_key):
    one, two = (seal_key(small_key, RECIPIENT.public_key(), **PLACE) for _ in range(2))
    assert one != two


def test_a_credential_is_valid_between_its_times_give_or_take_the_leeway():
    assertion = ClientAssertion(
        iss="client-0", aud="0" * 64, key="demo", iat=1000, exp=1300, jti="x"
    )
    assertion.check_time(1000 - CLOCK_LEEWAY_SECONDS)
    assertion.check_time(1300 + CLOCK_LEEWAY_SECONDS)
    for outside in (999 - CLOCK_LEEWAY_SECONDS, 1301 + CLOCK_LEEWAY_SECONDS):
        with pytest.raises(UnauthenticatedError):
            assertion.check_time(outside)


def test_public_keys_have_one_text():
    text = text_of(RECIPIENT.public_key())
    assert sealing_key(text).public_bytes_raw() == RECIPIENT.public_key().public_bytes_raw()
    assert from_text(to_text(b"\xff\xfe")) == b"\xff\xfe"
    # RFC 8037, appendix A.2: the public key of the example, and SHA-256 of its octets
    example = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert from_text(example).hex().startswith("d75a980182b10ab7d54bfed3c964073a")
    assert len(fingerprint(example)) == 64
    with pytest.raises(ValueError, match="base64url"):
        from_text(text[:-1] + "=")


@pytest.mark.parametrize(
    "change",
    [{"iat": -1}, {"exp": 10**400}, {"jti": ""}, {"jti": "x" * 65}, {"jti": "\0"}],
    ids=str,
)
def test_a_credential_with_impossible_times_or_identifier_is_none(change):
    """An integer that no float holds must not crash the comparison with a clock."""
    members = {"iss": "client-0", "aud": "0" * 64, "key": "demo", "iat": 1, "exp": 2, "jti": "x"}
    ClientAssertion(**members)
    with pytest.raises(ValidationError):
        ClientAssertion(**{**members, **change})
