"""A client as the protocol describes it: its own two keys, assertions, and checks."""

from itertools import count

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.services import KEY_SERVER, ServiceSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.key_server import AccessTokenRequest, Enrolled, Enrolment
from fedperm.wire.public_keys import from_text, text_of
from fedperm.wire.signed import sign, verify
from fedperm.wire.statements import ClientAssertion, EnrolmentProof, EpochRecord, KeyRelease
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.keys.sealing import open_key
from tests.keyserver.server import MovingClock, Server

_serial = count()


class Member:
    def __init__(self, server: Server, clock: MovingClock, key: str = "demo") -> None:
        self.server = server
        self.clock = clock
        self.key = key
        self.name = "nobody"
        self.signing = Ed25519PrivateKey.generate()
        self.sealing = X25519PrivateKey.generate()

    @property
    def public(self) -> str:
        return text_of(self.signing.public_key())

    def enrolment(self, token: str, /, **changes: object) -> Enrolment:
        """Its proof is as the protocol wants it, but for the changes."""
        members = {
            "key": self.key,
            "aud": self.server.authority.identity.fingerprint,
            "token": sha256_of(token.encode()),
            "signing_key": self.public,
            "sealing_key": text_of(self.sealing.public_key()),
        }
        proof = EnrolmentProof(**{**members, **changes})
        return Enrolment(token=token, proof=sign(proof, self.signing))

    async def enrol(self, token: str) -> Enrolled:
        enrolled = await self.server.api.enrol(self.key, self.enrolment(token))
        self.name = enrolled.client
        return enrolled

    def assertion(self, **changes: object) -> str:
        now = int(self.clock.time)
        members = {
            "iss": self.name,
            "aud": self.server.authority.identity.fingerprint,
            "key": self.key,
            "iat": now,
            "exp": now + 60,
            "jti": f"jti-{next(_serial)}",
        }
        return sign(ClientAssertion(**{**members, **changes}), self.signing)

    async def access(self, service: ServiceSpec = KEY_SERVER) -> str:
        request = AccessTokenRequest(assertion=self.assertion(), audience=service.audience)
        return (await self.server.api.access_token(request)).access_token

    async def release(self, epoch: int) -> KeyRelease:
        """Signed by the key server, or not accepted."""
        answer = await self.server.api.release(self.key, epoch, await self.access())
        return verify(answer.release, KeyRelease, self.server.authority.public_key)

    async def secret_key(self, epoch: int) -> SecretKey:
        release = await self.release(epoch)
        return open_key(
            from_text(release.sealed),
            self.sealing,
            key=self.key,
            epoch=epoch,
            client=self.name,
        )

    async def record(self, epoch: int) -> EpochRecord:
        answer = await self.server.api.epoch(self.key, epoch)
        return verify(answer.record, EpochRecord, self.server.authority.public_key)
