"""What enrolled clients are given: access tokens for signed assertions, secret keys, certificates,
and word of the newest epoch."""

import hashlib
import logging
from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.errors import ForbiddenError, UnauthenticatedError, UntrustedError
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.services import service_for
from fedperm.wire.key_server import (
    AuditEntry,
    Certificate,
    GrantedAccess,
    ReleasedKey,
    SignedNotice,
)
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import claimed_names, verify
from fedperm.wire.statements import (
    CLOCK_LEEWAY_SECONDS,
    AccessToken,
    Audience,
    AuditHead,
    ClientAssertion,
    ClientCertificate,
    Confirmation,
    EpochNotice,
    JsonWebKey,
)
from fedperm_keyserver.admission import check_epoch
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.records import Client
from fedperm_keyserver.stores import Stores

LONGEST_ASSERTION_SECONDS = 300
_JTI_OCTETS = 16

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Proven:
    """An assertion whose signature is the client's; whether it is of use here is not said."""

    client: Client
    assertion: ClientAssertion

    @property
    def caller(self) -> str:
        """For those who count what a client asks for."""
        return f"{self.client.key}/{self.client.name}"


@dataclass(frozen=True)
class Access:
    stores: Stores
    authority: Authority
    clock: Clock
    randomness: Random
    token_seconds: int
    metrics: KeyServerMetrics

    def prove(self, text: str) -> Proven:
        """Who has signed this assertion. Whoever is unknown and whoever cannot sign get the same
        answer; what is no assertion at all is told so."""
        self.authority.check_open()
        key, name = _claimed(text)
        client = self.stores.clients.find(key, name)
        if client is not None:
            try:
                assertion = verify(text, ClientAssertion, signing_key(client.signing_key))
                return Proven(client, assertion)
            except UntrustedError:
                pass
        raise UnauthenticatedError(
            "this assertion is not signed by an enrolled client",
            "sign it with the key that the client enrolled with",
        )

    def grant(self, proven: Proven, audience: Audience) -> GrantedAccess:
        """An access token for the service that the client wants to talk to."""
        now = self.clock.now()
        client, assertion = proven.client, proven.assertion
        self._check(assertion, now)
        forget_after = assertion.exp + CLOCK_LEEWAY_SECONDS
        self.stores.access.use_assertion(client, assertion.jti, forget_after, now)
        service = service_for(audience)
        token = AccessToken(
            iss=assertion.aud,
            sub=client.name,
            aud=service.audience,
            scope=service.scope,
            key=client.key,
            cnf=Confirmation(jwk=JsonWebKey(x=client.signing_key)),
            iat=int(now),
            exp=int(now) + self.token_seconds,
            jti=self.randomness.randbytes(_JTI_OCTETS).hex(),
        )
        self.metrics.access_tokens.labels(audience).inc()
        return GrantedAccess(
            access_token=self.authority.sign(token, assertion.aud), expires_at=token.exp
        )

    def release(
        self, key: KeyName, number: EpochNumber, bearer: AccessToken, holds: int | None = None
    ) -> ReleasedKey:
        """The client's part of an epoch's secret key, sealed to the client and signed.

        Made first and recorded by its hash; it leaves once the record is committed, with a signed
        head of the audit log, to which the client bears witness from then on. So does the log,
        wherever logs are kept: it repeats the record.
        """
        _check_key(bearer, key)
        of_key, client, epoch = self.stores.access.releasable(key, bearer.sub, number)
        check_epoch(client, number)
        now = self.clock.now()
        release = self.authority.make_release(epoch, of_key.keys, client, bearer.iss, now)
        digest = hashlib.sha256(release.encode()).hexdigest()
        entry = self.stores.access.record_release(client, epoch, digest, now)
        self.metrics.releases.inc()
        log.info("key released", extra={**entry.details, "audit": entry.number, "hash": entry.hash})
        held = None if holds is None else self.stores.audit.find(holds)
        return ReleasedKey(
            release=release,
            entry=entry,
            head=self._head(entry, bearer.iss, now),
            held=None if held is None else self._head(held, bearer.iss, now),
        )

    def _head(self, entry: AuditEntry, signer: str, now: float) -> str:
        head = AuditHead(number=entry.number, hash=entry.hash, iat=int(now))
        return self.authority.sign(head, signer)

    def newest_epoch(self, key: KeyName, nonce: str, bearer: AccessToken) -> SignedNotice:
        """Asked before each round: a client encrypts under no older epoch than this."""
        _check_key(bearer, key)
        of_key, _ = self.stores.access.admitted(key, bearer.sub)
        notice = EpochNotice(
            key=key, epoch=of_key.latest_epoch, nonce=nonce, iat=int(self.clock.now())
        )
        return SignedNotice(notice=self.authority.sign(notice, bearer.iss))

    def certificate(self, key: KeyName, name: ClientName, bearer: AccessToken) -> Certificate:
        """The same text each time, as long as the signing identity is the same."""
        _check_key(bearer, key)
        if bearer.sub != name:
            raise ForbiddenError(f"this is for {name} only", "use your own name in the path")
        _, client = self.stores.access.admitted(key, name)
        statement = ClientCertificate(
            key=key, client=name, signing_key=client.signing_key, iat=int(client.enrolled_at)
        )
        return Certificate(certificate=self.authority.sign(statement, bearer.iss))

    def _check(self, assertion: ClientAssertion, now: float) -> None:
        assertion.check_time(now)
        if not 0 <= assertion.exp - assertion.iat <= LONGEST_ASSERTION_SECONDS:
            raise UnauthenticatedError(
                f"this assertion is not for at most {LONGEST_ASSERTION_SECONDS} seconds",
                "sign one that expires sooner",
            )
        if assertion.aud not in self.authority.in_use:
            raise UnauthenticatedError(
                "this assertion is for another key server", "sign one for this one's fingerprint"
            )


def _claimed(text: str) -> tuple[KeyName, ClientName]:
    """Whose assertion it says it is."""
    try:
        key, client = claimed_names(text, ClientAssertion, "key", "iss")
    except UntrustedError as error:
        raise UnauthenticatedError(
            error.message, "sign an assertion as the protocol says"
        ) from None
    return KeyName(key), ClientName(client)


def _check_key(bearer: AccessToken, key: KeyName) -> None:
    if bearer.key != key:
        raise ForbiddenError(
            f"this access token is for key {bearer.key}", "ask with a client of this key"
        )
