"""Access tokens that the right key server signed: for another place, purpose or time they open
nothing."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.errors import ForbiddenError, SettingsError, UnauthenticatedError
from fedperm.services import AGGREGATOR, SERVICES, ServiceSpec
from fedperm.web.credentials import OperatorCredential, TokenVerifier
from fedperm.wire.statements import CLOCK_LEEWAY_SECONDS
from tests.aggregator.parties import Client, KeyServer, ManualClock

PLACES = list(SERVICES.values())
ADA = Client("ada")


@pytest.fixture
def key_server() -> KeyServer:
    return KeyServer(ManualClock(), pairs={})


def verifier(key_server: KeyServer, place: ServiceSpec) -> TokenVerifier:
    return TokenVerifier(key_server.signing.public_key(), place)


@pytest.mark.parametrize("place", PLACES, ids=SERVICES)
@pytest.mark.parametrize("audience", [place.audience for place in PLACES])
@pytest.mark.parametrize("scope", [place.scope for place in PLACES])
def test_audience_and_scope_must_both_be_the_places_own(key_server, place, audience, scope):
    token = key_server.token_with(ADA, aud=audience, scope=scope)
    check = verifier(key_server, place)
    if (audience, scope) == (place.audience, place.scope):
        assert check.verify(token, key_server.clock.now()).sub == "ada"
    else:
        with pytest.raises(ForbiddenError):
            check.verify(token, key_server.clock.now())


@pytest.mark.parametrize("place", PLACES, ids=SERVICES)
def test_a_token_lives_from_its_making_to_its_end_give_or_take_the_clocks(key_server, place):
    token = key_server.token_with(ADA, aud=place.audience, scope=place.scope)
    made, check = key_server.clock.now(), verifier(key_server, place)
    ends = made + 900
    for now in (made - CLOCK_LEEWAY_SECONDS, ends + CLOCK_LEEWAY_SECONDS):
        assert check.verify(token, now).exp == ends
    for now in (made - CLOCK_LEEWAY_SECONDS - 1, ends + CLOCK_LEEWAY_SECONDS + 1):
        with pytest.raises(UnauthenticatedError):
            check.verify(token, now)


def test_another_key_servers_token_is_no_credential(key_server):
    other = KeyServer(key_server.clock, pairs={}, signing=Ed25519PrivateKey.generate())
    with pytest.raises(UnauthenticatedError):
        verifier(key_server, AGGREGATOR).verify(other.token(ADA), key_server.clock.now())


def test_an_operators_secret_has_sixteen_characters_at_least():
    assert OperatorCredential.of("x" * 16).matches("x" * 16)
    with pytest.raises(SettingsError):
        OperatorCredential.of("x" * 15)


def test_nothing_but_the_operators_secret_matches():
    credential = OperatorCredential.of("the operator's secret")
    credential.check("the operator's secret")
    for wrong in ("", "the operator's secre", "the operator's secret ", credential.sha256.hex()):
        assert not credential.matches(wrong)
        with pytest.raises(UnauthenticatedError):
            credential.check(wrong)


def test_printing_a_credential_shows_neither_the_secret_nor_its_hash():
    assert repr(OperatorCredential.of("the operator's secret")) == "<OperatorCredential>"
