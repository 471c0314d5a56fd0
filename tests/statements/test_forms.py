"""What stands in statements, in literal numbers and names: other programs rely on them, and a
bound that is one off, or read from the module under test, would go unnoticed."""

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from fedperm.errors import UnauthenticatedError
from fedperm.services import AGGREGATOR, KEY_SERVER, SERVICES
from fedperm.wire.message import EpochField, RoundField
from fedperm.wire.statements import (
    AccessToken,
    Audience,
    ClientAssertion,
    EpochRecord,
    JsonWebKey,
    KeyMaterial,
    KeyRelease,
    Manifest,
    PosixSeconds,
    Scope,
)

KEY_TEXT = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
ASSERTION = {"iss": "ada", "aud": "0" * 64, "key": "demo", "iat": 1000, "exp": 1300, "jti": "x"}


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        (EpochField, 1, 2_147_483_647),
        (RoundField, 1, 2_147_483_647),
        (PosixSeconds, 0, 9_007_199_254_740_991),
    ],
    ids=["epoch", "round", "seconds"],
)
def test_numbers_have_bounds(kind, least, most):
    bounded = TypeAdapter(kind)
    for inside in (least, most):
        assert bounded.validate_python(inside) == inside
    for outside in (least - 1, most + 1):
        with pytest.raises(ValidationError):
            bounded.validate_python(outside)


def test_a_key_is_lower_case_hexadecimal_and_may_be_of_16384_bits():
    digits = TypeAdapter(KeyMaterial)
    for right in ("0", "9af", "f" * 4096):
        assert digits.validate_python(right) == right
    for wrong in ("", "A", "0x1", "g", "1 ", "f" * 4097):
        with pytest.raises(ValidationError):
            digits.validate_python(wrong)


def test_an_identifier_of_a_credential_is_printable_and_short():
    for right in ("!", "~", "x" * 64):
        assert ClientAssertion(**ASSERTION | {"jti": right}).jti == right
    for wrong in ("", " ", "a b", "\x7f", "ä", "x" * 65):
        with pytest.raises(ValidationError):
            ClientAssertion(**ASSERTION | {"jti": wrong})


def test_clocks_may_differ_by_sixty_seconds():
    assertion = ClientAssertion(**ASSERTION)
    for now in (940.0, 1360.0):
        assertion.check_time(now)
    for now in (939.9, 1360.1):
        with pytest.raises(UnauthenticatedError):
            assertion.check_time(now)


def test_every_kind_has_a_type_of_its_own():
    assert {
        kind: kind.typ for kind in (EpochRecord, KeyRelease, AccessToken, ClientAssertion, Manifest)
    } == {
        EpochRecord: "fedperm-epoch+jwt",
        KeyRelease: "fedperm-release+jwt",
        AccessToken: "at+jwt",
        ClientAssertion: "fedperm-assertion+jwt",
        Manifest: "fedperm-manifest+jwt",
    }


def test_places_and_purposes_have_these_names():
    assert {service.audience: service.scope for service in SERVICES.values()} == {
        "fedperm-aggregator": "participate",
        "fedperm-keyserver": "secret-keys",
    }


@pytest.mark.parametrize(
    ("form", "known", "unknown"),
    [
        (Audience, KEY_SERVER.audience, "fedperm-printer"),
        (Audience, AGGREGATOR.audience, AGGREGATOR.name),
        (Scope, KEY_SERVER.scope, "everything"),
        (Scope, AGGREGATOR.scope, ""),
    ],
)
def test_a_place_or_purpose_that_no_service_has_is_refused(form, known, unknown):
    adapter = TypeAdapter(form)
    assert adapter.validate_json(json.dumps(known)) == known
    assert known in adapter.json_schema()["enum"]
    with pytest.raises(ValidationError, match="no service has"):
        adapter.validate_json(json.dumps(unknown))


def test_a_key_in_a_token_is_written_as_rfc_8037_says():
    assert JsonWebKey(x=KEY_TEXT).model_dump() == {"kty": "OKP", "crv": "Ed25519", "x": KEY_TEXT}
    for wrong in ({"kty": "RSA"}, {"crv": "X25519"}):
        with pytest.raises(ValidationError):
            JsonWebKey(**{"x": KEY_TEXT} | wrong)
