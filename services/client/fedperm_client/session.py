"""Both servers as one client of one run sees them: credentials and names are filled in."""

import asyncio
from dataclasses import dataclass

from fedperm.errors import RefusedError
from fedperm.ids import EpochNumber, RoundNumber, RunName
from fedperm.protocol import PROTOCOL
from fedperm.run_document import FrozenDocument
from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.submissions import SubmissionKind
from fedperm.wire.aggregator import (
    CheckpointOffer,
    CheckpointReceipt,
    ClientReport,
    Heartbeat,
    KeyEpoch,
    Participation,
    RoundOutcome,
    SignedCheckpoint,
    SubmissionReceipt,
    SubmissionReport,
    Task,
)
from fedperm.wire.digest import sha256_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import CheckpointStatement, Manifest
from fedperm_client.access import Access
from fedperm_client.audit_witness import AuditWitness
from fedperm_client.identity import ClientIdentity
from fedperm_client.peers import Peers


@dataclass(frozen=True)
class Session:
    identity: ClientIdentity
    run: RunName
    peers: Peers
    access: Access
    witness: AuditWitness

    async def release(self, epoch: EpochNumber) -> str:
        """The signed, sealed secret key of an epoch, once it is known to be in the audit log."""
        holds = await asyncio.to_thread(self.witness.holds)
        released = await self.access.using(
            KEY_SERVER,
            lambda token: self.peers.key_server.release(self.identity.key, epoch, token, holds),
        )
        await asyncio.to_thread(self.witness.take, released)
        return released.release

    async def newest_epoch(self, nonce: str) -> str:
        """The key server's signed word, for this nonce."""
        answer = await self.access.using(
            KEY_SERVER,
            lambda token: self.peers.key_server.newest_epoch(self.identity.key, nonce, token),
        )
        return answer.notice

    async def epoch_record(self, epoch: EpochNumber, signer: str) -> str:
        """From the key server itself, as its identity with this fingerprint signs it."""
        return (await self.peers.key_server.epoch(self.identity.key, epoch, signer)).record

    async def document(self) -> FrozenDocument:
        return await self.access.using(
            AGGREGATOR, lambda token: self.peers.aggregator.document(self.run, token)
        )

    async def key_epochs(self) -> tuple[str, ...]:
        """The signed records beside the run."""
        answer = await self.access.using(
            AGGREGATOR, lambda token: self.peers.aggregator.key_epochs(self.run, token)
        )
        return tuple(epoch.record for epoch in answer.epochs)

    async def initial_model(self, most_octets: int) -> bytes:
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.initial_model(self.run, token, most_octets),
        )

    async def join(self, document: str) -> None:
        await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.join(
                self.run,
                self.identity.name,
                Participation(document=document, protocol=PROTOCOL),
                token,
            ),
        )

    async def beat(self, heartbeat: Heartbeat) -> None:
        await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.beat(
                self.run, self.identity.name, heartbeat, token
            ),
        )

    async def next_task(self, settled: RoundNumber, wait_seconds: float) -> Task:
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.next_task(
                self.run, self.identity.name, settled, wait_seconds, token
            ),
        )

    async def submit(
        self,
        kind: SubmissionKind,
        document: FrozenDocument,
        number: RoundNumber,
        epoch: EpochNumber,
        body: bytes,
    ) -> SubmissionReceipt:
        """With a manifest that says whose it is and what for."""
        manifest = Manifest(
            run=self.run,
            document=document.sha256,
            round=number,
            epoch=epoch,
            client=self.identity.name,
            kind=kind.name,
            sha256=sha256_of(body),
            size=len(body),
            tensors=kind.body(document.content).digests(body),
        )
        signed = sign(manifest, self.identity.keys.signing)
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.submit(
                kind, self.run, number, self.identity.name, body, signed, token
            ),
        )

    async def submission(self, kind: SubmissionKind, number: RoundNumber) -> SubmissionReport:
        """What became of it."""
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.submission(
                kind, self.run, number, self.identity.name, token
            ),
        )

    async def outcome(self, number: RoundNumber) -> RoundOutcome:
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.outcome(self.run, number, token),
        )

    async def aggregate(self, number: RoundNumber, most_octets: int) -> bytes:
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.aggregate(self.run, number, token, most_octets),
        )

    async def decline(self, number: RoundNumber, record: str) -> None:
        newer = KeyEpoch(record=record)
        await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.decline(
                self.run, number, self.identity.name, newer, token
            ),
        )

    async def certificate(self) -> str:
        """The key server's word that this client's signing key is its own."""
        answer = await self.access.using(
            KEY_SERVER,
            lambda token: self.peers.key_server.certificate(
                self.identity.key, self.identity.name, token
            ),
        )
        return answer.certificate

    async def sign_checkpoint(
        self, statement: CheckpointStatement, certificate: str
    ) -> CheckpointReceipt:
        signed = SignedCheckpoint(
            statement=sign(statement, self.identity.keys.signing), certificate=certificate
        )
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.sign_checkpoint(
                self.run, statement.round, self.identity.name, signed, token
            ),
        )

    async def send_checkpoint(self, number: RoundNumber, body: bytes) -> None:
        await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.send_checkpoint(
                self.run, number, self.identity.name, body, token
            ),
        )

    async def checkpoint_on_offer(self) -> CheckpointOffer | None:
        """None if there is none."""
        try:
            return await self.access.using(
                AGGREGATOR, lambda token: self.peers.aggregator.checkpoint(self.run, token)
            )
        except RefusedError as refusal:
            if refusal.status != 404:
                raise
            return None

    async def sealed_checkpoint(self, sha256: str, most_octets: int) -> bytes:
        return await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.sealed_checkpoint(
                self.run, sha256, token, most_octets
            ),
        )

    async def report(self, number: RoundNumber, report: ClientReport) -> None:
        await self.access.using(
            AGGREGATOR,
            lambda token: self.peers.aggregator.report(
                self.run, number, self.identity.name, report, token
            ),
        )
