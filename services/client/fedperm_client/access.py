"""Access tokens: asked for when needed, kept until shortly before they expire."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from fedperm.api.key_server import KeyServerApi
from fedperm.clock import Clock
from fedperm.errors import RefusedError
from fedperm.wire.key_server import AccessTokenRequest, GrantedAccess
from fedperm.wire.signed import sign
from fedperm.wire.statements import Audience, ClientAssertion
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
        self._granted: dict[Audience, GrantedAccess] = {}
        self._lock = asyncio.Lock()

    async def using(
        self, audience: Audience, request: Callable[[str], Awaitable[Answer]]
    ) -> Answer:
        """The request with a token; once more with a new one if the first is not taken."""
        token = await self._token(audience)
        try:
            return await request(token)
        except RefusedError as refusal:
            if refusal.status != 401:
                raise
        self._granted.pop(audience, None)
        return await request(await self._token(audience))

    async def _token(self, audience: Audience) -> str:
        async with self._lock:
            granted = self._granted.get(audience)
            if granted is None or granted.expires_at - _MARGIN_SECONDS <= self._clock.now():
                granted = self._granted[audience] = await self._ask(audience)
            return granted.access_token

    async def _ask(self, audience: Audience) -> GrantedAccess:
        """Each assertion counts once: if the answer to one was lost, another is needed, and on a
        bad line the answer to that one may be lost as well."""
        for _ in range(_MOST_ASSERTIONS - 1):
            try:
                return await self._key_server.access_token(self._request(audience))
            except RefusedError as refusal:
                if refusal.status != 401:
                    raise
        return await self._key_server.access_token(self._request(audience))

    def _request(self, audience: Audience) -> AccessTokenRequest:
        now = int(self._clock.now())
        assertion = ClientAssertion(
            iss=self._identity.name,
            aud=self._identity.key_server_fingerprint,
            key=self._identity.key,
            iat=now,
            exp=now + _ASSERTION_SECONDS,
            jti=self._randomness.randbytes(16).hex(),
        )
        signed = sign(assertion, self._identity.keys.signing)
        return AccessTokenRequest(assertion=signed, audience=audience)
