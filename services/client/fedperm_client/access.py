"""Access tokens: asked for when needed, kept until shortly before they expire."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from fedperm.api.key_server import KeyServerApi
from fedperm.clock import Clock
from fedperm.errors import RefusedError
from fedperm.services import SERVICES, ServiceSpec
from fedperm.wire.key_server import AccessTokenRequest, GrantedAccess
from fedperm.wire.public_keys import KeyText, fingerprint
from fedperm.wire.signed import sign
from fedperm.wire.statements import ClientAssertion
from fedperm_client.identity import ClientIdentity

_ASSERTION_SECONDS = 120
_MOST_ASSERTIONS = 5
_MARGIN_SECONDS = 30.0
"""A token that expires sooner is not used any more: a request takes its time."""

Answer = TypeVar("Answer")


class Access:
    """One client's way in, at both servers."""

    def __init__(
        self, identity: ClientIdentity, key_server: KeyServerApi, clock: Clock, randomness: Random
    ) -> None:
        self._identity = identity
        self._key_server = key_server
        self._clock = clock
        self._randomness = randomness
        self._granted: dict[ServiceSpec, GrantedAccess] = {}
        self._signers: dict[ServiceSpec, KeyText] = {}
        self._lock = asyncio.Lock()

    async def using(
        self, service: ServiceSpec, request: Callable[[str], Awaitable[Answer]]
    ) -> Answer:
        """The request with a token; once more with a new one if the first is not taken, and where
        the key server has changed its identity, with one of each: a run knows it by one of them,
        and which is in the document, which is not read without a token."""
        token = await self._token(service)
        try:
            return await request(token)
        except RefusedError as refusal:
            if refusal.status != 401:
                raise
        *others, last = self._signers_to_try(service)
        for signer in others:
            token = await self._new_token(service, signer)
            try:
                return await request(token)
            except RefusedError as refusal:
                if refusal.status != 401:
                    raise
        return await request(await self._new_token(service, last))

    def know_key_server_as(self, signer: KeyText) -> None:
        """Of its identities this one is to sign from here on: the run's document names it, and all
        who take part in the run believe it."""
        for service in SERVICES.values():
            if self._signer(service) != signer:
                self._signers[service] = signer
                self._granted.pop(service, None)

    def _signers_to_try(self, service: ServiceSpec) -> list[KeyText]:
        """The one that was to sign, then the others, newest first."""
        current = self._signer(service)
        return [current, *(one for one in reversed(self._identity.believed) if one != current)]

    def _signer(self, service: ServiceSpec) -> KeyText:
        return self._signers.get(service, self._identity.believed[-1])

    async def _new_token(self, service: ServiceSpec, signer: KeyText) -> str:
        self._granted.pop(service, None)
        self._signers[service] = signer
        return await self._token(service)

    async def _token(self, service: ServiceSpec) -> str:
        async with self._lock:
            granted = self._granted.get(service)
            if granted is None or granted.expires_at - _MARGIN_SECONDS <= self._clock.now():
                granted = self._granted[service] = await self._ask(service)
            return granted.access_token

    async def _ask(self, service: ServiceSpec) -> GrantedAccess:
        """Each assertion counts once: if the answer to one was lost, another is needed, and on a
        bad line the answer to that one may be lost as well."""
        for _ in range(_MOST_ASSERTIONS - 1):
            try:
                return await self._key_server.access_token(self._request(service))
            except RefusedError as refusal:
                if refusal.status != 401:
                    raise
        return await self._key_server.access_token(self._request(service))

    def _request(self, service: ServiceSpec) -> AccessTokenRequest:
        now = int(self._clock.now())
        assertion = ClientAssertion(
            iss=self._identity.name,
            aud=fingerprint(self._signer(service)),
            key=self._identity.key,
            iat=now,
            exp=now + _ASSERTION_SECONDS,
            jti=self._randomness.randbytes(16).hex(),
        )
        signed = sign(assertion, self._identity.keys.signing)
        return AccessTokenRequest(assertion=signed, audience=service.audience)
