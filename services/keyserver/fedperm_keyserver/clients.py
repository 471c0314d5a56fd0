"""Clients: enrolled with a token, listed, revoked."""

from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import ConflictError, FedPermError, UnauthenticatedError, UntrustedError
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.digest import sha256_of
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import (
    ClientList,
    ClientStatus,
    Enrolled,
    Enrolment,
    Revocation,
    SignedEpoch,
)
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import unverified, verify
from fedperm.wire.statements import EnrolmentProof
from fedperm_keyserver.admission import judge
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.records import Admitted, Attempt, Client, Epoch, Refused
from fedperm_keyserver.stores import Stores


@dataclass(frozen=True)
class Clients:
    stores: Stores
    keys: Keys
    authority: Authority
    clock: Clock
    metrics: KeyServerMetrics

    def enrol(self, key: KeyName, enrolment: Enrolment) -> tuple[Enrolled, bool]:
        """The client, and whether it is new."""
        try:
            client, is_new = self._enrol(key, enrolment)
        except FedPermError:
            self.metrics.enrolments.labels("refused").inc()
            raise
        self.metrics.enrolments.labels("new" if is_new else "again").inc()
        enrolled = Enrolled(
            client=client.name,
            ordinal=client.ordinal,
            key=client.key,
            key_server=self.authority.identity,
        )
        return enrolled, is_new

    def all(self, key: KeyName) -> ClientList:
        return ClientList(clients=tuple(_status(client) for client in self.stores.clients.all(key)))

    def revoke(self, key: KeyName, name: ClientName) -> Revocation:
        """With a new epoch in the same transaction: the client knows the shared key."""
        client = self.stores.clients.get(key, name)
        if client.revoked_into is None:
            epoch = self._revoke(client).record
        else:
            epoch = self.keys.newly_signed(key, client.revoked_into).record
        return Revocation(client=name, epoch=SignedEpoch(record=epoch))

    def _enrol(self, key: KeyName, enrolment: Enrolment) -> tuple[Client, bool]:
        self.authority.check_open()
        token = parse_token(enrolment.token)
        if token.fingerprint not in self.authority.in_use:
            raise UnauthenticatedError(
                "this enrolment token is of another key server", "check the key server's address"
            )
        proof = _proven(key, enrolment, token.fingerprint)
        attempt = Attempt(key, token.id, token.secret_sha256, proof.signing_key, proof.sealing_key)
        verdict = self.stores.clients.enrol(attempt, judge, self.clock.now())
        if isinstance(verdict, Refused):
            raise ConflictError(verdict.why, "ask the key operator for a token of your own")
        return verdict.client, isinstance(verdict, Admitted)

    def _revoke(self, client: Client) -> Epoch:
        """Whoever loses a race for an epoch's number takes the next one with the same key: an
        epoch made while the client was still enrolled is of no use."""
        key = self.stores.keys.get(client.key)
        dealt = self.keys.deal(key.scheme_spec, key.keys)
        while True:
            latest, now = self.stores.keys.get(client.key).latest_epoch, self.clock.now()
            number = EpochNumber(latest + 1)
            epoch = self.authority.make_epoch(dealt, client.key, number, now)
            made = self.stores.clients.revoke(client, epoch, now)
            if made is not None:
                return made


def _proven(key: KeyName, enrolment: Enrolment, fingerprint: str) -> EnrolmentProof:
    """Whoever enrols a signing key must hold its private half, and mean this token, for this key at
    this key server: nobody enrols with a key that he has only seen."""
    claimed = unverified(enrolment.proof, EnrolmentProof)
    proof = verify(enrolment.proof, EnrolmentProof, signing_key(claimed.signing_key))
    meant = (key, fingerprint, sha256_of(enrolment.token.encode()))
    if (proof.key, proof.aud, proof.token) != meant:
        raise UntrustedError(
            "the proof is for another enrolment: its key, key server or token is another",
            "sign one for exactly this request",
        )
    return proof


def _status(client: Client) -> ClientStatus:
    return ClientStatus(
        client=client.name,
        ordinal=client.ordinal,
        enrolled_at=client.enrolled_at,
        revoked_at=client.revoked_at,
        signing_key=client.signing_key,
    )
