"""The key server's REST interface as methods."""

from fedperm.api.connection import Connection, Request
from fedperm.api.health import ServerVersion, version_of
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.key_server import (
    AccessTokenRequest,
    AuditLog,
    Certificate,
    ClientList,
    DestroyedEpoch,
    Enrolled,
    Enrolment,
    GrantedAccess,
    Identity,
    KeyList,
    KeyRequest,
    KeyStatus,
    MintedToken,
    ReleasedKey,
    Revocation,
    SignedEpoch,
    SignedNotice,
    TokenList,
    TokenRequest,
    TokenStatus,
)


class KeyServerApi:
    """Methods that take a `token` need that credential; the others need none."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def version(self) -> ServerVersion:
        return await version_of(self._connection)

    async def identity(self) -> Identity:
        return await self._connection.ask(Request("GET", "/v1/identity"), Identity)

    async def create_key(self, key: KeyName, wanted: KeyRequest, token: str) -> KeyStatus:
        request = Request("PUT", f"/v1/keys/{key}", token, wanted, timeout_seconds=600)
        return await self._connection.ask(request, KeyStatus)

    async def keys(self, token: str) -> KeyList:
        return await self._connection.ask(Request("GET", "/v1/keys", token), KeyList)

    async def key(self, key: KeyName) -> KeyStatus:
        return await self._connection.ask(Request("GET", f"/v1/keys/{key}"), KeyStatus)

    async def epoch(
        self, key: KeyName, epoch: EpochNumber, signer: str | None = None
    ) -> SignedEpoch:
        """As the identity with this fingerprint signs it, or as it was signed first."""
        parameters = (("signer", signer),) if signer else ()
        request = Request("GET", f"/v1/keys/{key}/epochs/{epoch}", parameters=parameters)
        return await self._connection.ask(request, SignedEpoch)

    async def create_epoch(self, key: KeyName, epoch: EpochNumber, token: str) -> SignedEpoch:
        """Rotates the key if `epoch` is the next one."""
        request = Request("PUT", f"/v1/keys/{key}/epochs/{epoch}", token, timeout_seconds=600)
        return await self._connection.ask(request, SignedEpoch)

    async def destroy_epoch(self, key: KeyName, epoch: EpochNumber, token: str) -> DestroyedEpoch:
        request = Request("DELETE", f"/v1/keys/{key}/epochs/{epoch}", token, timeout_seconds=600)
        return await self._connection.ask(request, DestroyedEpoch)

    async def newest_epoch(self, key: KeyName, nonce: str, token: str) -> SignedNotice:
        """A client's own question: the answer is signed for this nonce."""
        request = Request("GET", f"/v1/keys/{key}/newest-epoch/{nonce}", token)
        return await self._connection.ask(request, SignedNotice)

    async def mint_token(self, key: KeyName, wanted: TokenRequest, token: str) -> MintedToken:
        request = Request("POST", f"/v1/keys/{key}/enrolment-tokens", token, wanted)
        return await self._connection.ask(request, MintedToken)

    async def tokens(self, key: KeyName, token: str) -> TokenList:
        request = Request("GET", f"/v1/keys/{key}/enrolment-tokens", token)
        return await self._connection.ask(request, TokenList)

    async def revoke_token(self, key: KeyName, identifier: str, token: str) -> TokenStatus:
        request = Request("DELETE", f"/v1/keys/{key}/enrolment-tokens/{identifier}", token)
        return await self._connection.ask(request, TokenStatus)

    async def enrol(self, key: KeyName, enrolment: Enrolment) -> Enrolled:
        request = Request("POST", f"/v1/keys/{key}/clients", message=enrolment)
        return await self._connection.ask(request, Enrolled)

    async def clients(self, key: KeyName, token: str) -> ClientList:
        return await self._connection.ask(
            Request("GET", f"/v1/keys/{key}/clients", token), ClientList
        )

    async def revoke_client(self, key: KeyName, client: ClientName, token: str) -> Revocation:
        request = Request("DELETE", f"/v1/keys/{key}/clients/{client}", token, timeout_seconds=600)
        return await self._connection.ask(request, Revocation)

    async def certificate(self, key: KeyName, client: ClientName, token: str) -> Certificate:
        """A client's own."""
        request = Request("GET", f"/v1/keys/{key}/clients/{client}/certificate", token)
        return await self._connection.ask(request, Certificate)

    async def access_token(self, wanted: AccessTokenRequest) -> GrantedAccess:
        request = Request("POST", "/v1/access-tokens", message=wanted)
        return await self._connection.ask(request, GrantedAccess)

    async def release(
        self, key: KeyName, epoch: EpochNumber, token: str, holds: int | None = None
    ) -> ReleasedKey:
        """`holds` is the number of the audit head that the client holds."""
        parameters = () if holds is None else (("holds", str(holds)),)
        path = f"/v1/keys/{key}/epochs/{epoch}/releases"
        request = Request("POST", path, token, parameters=parameters)
        return await self._connection.ask(request, ReleasedKey)

    async def audit(self, token: str, after: int = 0) -> AuditLog:
        request = Request("GET", "/v1/audit", token, parameters=(("after", str(after)),))
        return await self._connection.ask(request, AuditLog)
