"""Access tokens for clients that prove who they are with a signed assertion."""

from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.errors import UnauthenticatedError, UntrustedError
from fedperm.services import ServiceSpec, service_for
from fedperm.wire.key_server import AccessTokenRequest, GrantedAccess
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import unverified, verify
from fedperm.wire.statements import (
    CLOCK_LEEWAY_SECONDS,
    AccessToken,
    ClientAssertion,
    Confirmation,
    JsonWebKey,
)
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.records import Client
from fedperm_keyserver.stores.access import AccessStore
from fedperm_keyserver.stores.clients import ClientStore

LONGEST_ASSERTION_SECONDS = 300
_JTI_OCTETS = 16


@dataclass(frozen=True)
class Access:
    store: AccessStore
    clients: ClientStore
    authority: Authority
    clock: Clock
    randomness: Random
    token_seconds: int
    metrics: KeyServerMetrics

    def grant(self, wanted: AccessTokenRequest) -> GrantedAccess:
        self.authority.check_open()
        now = self.clock.now()
        client, assertion = self._prove(wanted.assertion)
        self._check(assertion, now)
        forget_after = assertion.exp + CLOCK_LEEWAY_SECONDS
        self.store.use_assertion(client, assertion.jti, forget_after, now)
        token = self._token(client, service_for(wanted.audience), now)
        self.metrics.access_tokens.labels(wanted.audience).inc()
        return GrantedAccess(access_token=self.authority.sign(token), expires_at=token.exp)

    def _prove(self, text: str) -> tuple[Client, ClientAssertion]:
        """Whoever is unknown and whoever cannot sign get the same answer."""
        try:
            claimed = unverified(text, ClientAssertion)
            client = self.clients.find(claimed.key, claimed.iss)
            if client is not None:
                return client, verify(text, ClientAssertion, signing_key(client.signing_key))
        except UntrustedError:
            pass
        raise UnauthenticatedError(
            "this assertion is not signed by an enrolled client",
            "sign it with the key that the client enrolled with",
        )

    def _check(self, assertion: ClientAssertion, now: float) -> None:
        assertion.check_time(now)
        if not 0 <= assertion.exp - assertion.iat <= LONGEST_ASSERTION_SECONDS:
            raise UnauthenticatedError(
                f"this assertion is not for at most {LONGEST_ASSERTION_SECONDS} seconds",
                "sign one that expires sooner",
            )
        if assertion.aud != self.authority.identity.fingerprint:
            raise UnauthenticatedError(
                "this assertion is for another key server", "sign one for this one's fingerprint"
            )

    def _token(self, client: Client, service: ServiceSpec, now: float) -> AccessToken:
        return AccessToken(
            iss=self.authority.identity.fingerprint,
            sub=client.name,
            aud=service.audience,
            scope=service.scope,
            key=client.key,
            cnf=Confirmation(jwk=JsonWebKey(x=client.signing_key)),
            iat=int(now),
            exp=int(now) + self.token_seconds,
            jti=self.randomness.randbytes(_JTI_OCTETS).hex(),
        )
