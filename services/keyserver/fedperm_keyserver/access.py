"""What enrolled clients are given: access tokens for signed assertions, and secret keys."""

import hashlib
import logging
from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.errors import ForbiddenError, UnauthenticatedError, UntrustedError
from fedperm.ids import EpochNumber, KeyName
from fedperm.services import service_for
from fedperm.wire.key_server import AccessTokenRequest, GrantedAccess, ReleasedKey
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
from fedperm_keyserver.stores import Stores

LONGEST_ASSERTION_SECONDS = 300
_JTI_OCTETS = 16

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Access:
    stores: Stores
    authority: Authority
    clock: Clock
    randomness: Random
    token_seconds: int
    metrics: KeyServerMetrics

    def grant(self, wanted: AccessTokenRequest) -> GrantedAccess:
        """An access token for the service that the client wants to talk to."""
        self.authority.check_open()
        now = self.clock.now()
        client, assertion = self._prove(wanted.assertion)
        self._check(assertion, now)
        forget_after = assertion.exp + CLOCK_LEEWAY_SECONDS
        self.stores.access.use_assertion(client, assertion.jti, forget_after, now)
        service = service_for(wanted.audience)
        token = AccessToken(
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
        self.metrics.access_tokens.labels(wanted.audience).inc()
        return GrantedAccess(access_token=self.authority.sign(token), expires_at=token.exp)

    def release(self, key: KeyName, number: EpochNumber, bearer: AccessToken) -> ReleasedKey:
        """The client's part of an epoch's secret key, sealed to the client and signed.

        Made first and recorded by its hash; it leaves once the record is committed. The log
        repeats the record: wherever logs are kept, they bear witness to the audit log.
        """
        if bearer.key != key:
            raise ForbiddenError(
                f"this access token is for key {bearer.key}", "ask with a client of this key"
            )
        of_key, client, epoch = self.stores.access.releasable(key, bearer.sub, number)
        now = self.clock.now()
        release = self.authority.make_release(epoch, of_key.keys, client, now)
        digest = hashlib.sha256(release.encode()).hexdigest()
        entry = self.stores.access.record_release(client, epoch, digest, now)
        self.metrics.releases.inc()
        log.info("key released", extra={**entry.details, "audit": entry.number, "hash": entry.hash})
        return ReleasedKey(release=release)

    def _prove(self, text: str) -> tuple[Client, ClientAssertion]:
        """Whoever is unknown and whoever cannot sign get the same answer."""
        try:
            claimed = unverified(text, ClientAssertion)
            client = self.stores.clients.find(claimed.key, claimed.iss)
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
