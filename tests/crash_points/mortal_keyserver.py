"""The key server as a process that dies, and its operator and clients."""

import signal
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.api.key_server import KeyServerApi
from fedperm.audit_chain import verify_chain
from fedperm.services import KEY_SERVER
from fedperm.wire.digest import sha256_of
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import AuditEntry, Enrolment
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import ClientAssertion, EnrolmentProof
from tests.crash_points.mortal import Answer, Ask, MortalServer
from tests.crash_points.nursery import Nursery
from tests.crash_points.tally import Case, Tally
from tests.keyserver.server import KEK, OPERATOR

KEY = "main"


class MortalKeyServer(MortalServer):
    def __init__(self, nursery: Nursery, folder: Path, tally: Tally, *, retried: bool) -> None:
        for name, secret in {"operator-token": OPERATOR, "kek": KEK}.items():
            (folder / name).write_text(secret)
        super().__init__(
            nursery,
            KEY_SERVER,
            folder,
            tally,
            retried=retried,
            operator_token_file=folder / "operator-token",
            key_encryption_key_file=folder / "kek",
        )
        self.tally = tally
        self._nursery, self._folder = nursery, folder

    async def die_beside(self, moment: str, *arguments: str, new_kek: str = KEK) -> bool:
        """The server is stopped, and the command that changes its root keys killed at this moment;
        then done again if it is retried. Whether it was done."""
        self.process.kill()
        self.trap.set(moment)
        assert self._change_root_keys(arguments, new_kek) == -signal.SIGKILL
        assert not self.trap.is_set
        self.tally.cases.add(Case(moment, self.retried))
        if self.retried:
            assert self._change_root_keys(arguments, new_kek) == 0
        return self.retried or moment.endswith(".done")

    def _change_root_keys(self, arguments: tuple[str, ...], new_kek: str) -> int:
        new = KEY_SERVER.environment(new_key_encryption_key=new_kek)
        command = " ".join(("fedperm_keyserver.root_keys", *arguments))
        environment = {**self._environment, **new}
        return self._nursery.spawn(command, environment, self._folder / "root-keys.log").wait()

    def give_key_encryption_key(self, kek: str) -> None:
        (self._folder / "kek").write_text(kek)

    @property
    def api(self) -> KeyServerApi:
        return KeyServerApi(self.connection)

    async def die_of(self, moment: str, ask: Ask[Answer]) -> Answer | None:
        """The audit log is one chain after every death."""
        answer = await super().die_of(moment, ask)
        await self.audit()
        return answer

    async def audit(self) -> tuple[AuditEntry, ...]:
        """The whole log, which must be one chain."""
        entries = (await self.api.audit(OPERATOR)).entries
        verify_chain(entries)
        return entries

    async def recorded(self, kind: str, **details: object) -> int:
        """How often such a thing is in the audit log."""
        return sum(
            entry.event == kind and details.items() <= entry.details.items()
            for entry in await self.audit()
        )


class Newcomer:
    """A client's two keys, and what it says with them."""

    def __init__(self) -> None:
        self.signing = Ed25519PrivateKey.generate()
        self.sealing = X25519PrivateKey.generate()
        self.serial = 0

    def enrolment(self, token: str) -> Enrolment:
        proof = EnrolmentProof(
            key=KEY,
            aud=parse_token(token).fingerprint,
            token=sha256_of(token.encode()),
            signing_key=text_of(self.signing.public_key()),
            sealing_key=text_of(self.sealing.public_key()),
        )
        return Enrolment(token=token, proof=sign(proof, self.signing))

    def assertion(self, name: str, fingerprint: str) -> str:
        """A new one each time."""
        self.serial += 1
        now = int(time.time())
        claims = ClientAssertion(
            iss=name, aud=fingerprint, key=KEY, iat=now, exp=now + 60, jti=f"{name}-{self.serial}"
        )
        return sign(claims, self.signing)
