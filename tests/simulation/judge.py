"""The oracle: sees everything that travels and every settled round, and objects."""

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import average_update, decode_aggregate
from fedperm.audit_chain import START, ChainEnd, verify_chain
from fedperm.blobs.registry import open_blob
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundOutcome, RoundState, SubmissionState
from fedperm_client.model_store import ModelStore
from fedperm_keyserver.stores.audit import AuditStore
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.core.federation import decrypted_sum, half_of
from tests.federation.wire_oracle import expected_sum
from tests.keys.sealing import taken_out
from tests.simulation.lines import Server
from tests.simulation.lives import Party
from tests.simulation.members import Member
from tests.simulation.servers import Aggregator, KeyServer
from tests.simulation.tally import Tally

_UPDATE = re.compile(r"/v1/runs/demo/rounds/(\d+)/updates/([a-z0-9-]+)")
_AGGREGATE = re.compile(r"/v1/runs/demo/rounds/(\d+)/aggregate")
_OUTCOME = re.compile(r"/v1/runs/demo/rounds/(\d+)")
_RELEASE = re.compile(r"/v1/keys/main/epochs/\d+/releases")


@dataclass(frozen=True)
class Slot:
    round: int
    client: str

    @classmethod
    def of(cls, request: httpx.Request) -> "Slot | None":
        """The place that an upload is for."""
        match = _UPDATE.fullmatch(request.url.path)
        return cls(int(match[1]), match[2]) if match and request.method == "PUT" else None


@dataclass
class Judge:
    """`released` has the one body that left a client for a round, `promised` the digests of
    acknowledged uploads, `seen` what was told of settled rounds."""

    tally: Tally
    document: FrozenDocument | None = None
    released: dict[Slot, bytes] = field(default_factory=dict)
    promised: dict[Slot, str] = field(default_factory=dict)
    seen: dict[str, bytes] = field(default_factory=dict)
    releases: set[str] = field(default_factory=set)
    models: list[NDArray[np.float64]] = field(default_factory=list)
    audited: ChainEnd = START
    audited_releases: set[str] = field(default_factory=set)

    def object(self, kind: str, what: str) -> None:
        self.tally.failures[kind] += 1
        raise AssertionError(f"{kind}: {what}")

    # what travels

    def leaves(self, sender: Party | None, request: httpx.Request) -> None:
        slot = Slot.of(request)
        if slot is None or not isinstance(sender, Member):
            return
        first = self.released.setdefault(slot, request.content)
        if first != request.content:
            self.object("second release", f"{slot} left with other bytes")
        if sender.has_ledger and _digest(request.content) not in charges(sender, slot.round):
            self.object("uncharged release", f"{slot} left before it was charged")

    def is_answered(self, server: Server, request: httpx.Request, response: httpx.Response) -> None:
        status, path = response.status_code, request.url.path
        self.tally.statuses[str(status)] += 1
        if status >= 500:
            self._check_trouble(server, request, response)
        slot = Slot.of(request)
        if slot is not None and status in {200, 201}:
            self._promise(slot, request, response)
        if status == 201 and _RELEASE.fullmatch(path):
            self.releases.add(_digest(response.json()["release"].encode()))
        if status == 200 and (_AGGREGATE.fullmatch(path) or _is_settled(path, response)):
            self._check_constant(path, response.content)

    def _check_trouble(
        self, server: Server, request: httpx.Request, response: httpx.Response
    ) -> None:
        expected = {503} if server.is_locked else {503, 507} if server.is_short else set()
        if response.status_code not in expected:
            what = f"{request.method} {request.url.path}: {response.status_code} {response.text}"
            self.object("server error", what)

    def _promise(self, slot: Slot, request: httpx.Request, response: httpx.Response) -> None:
        digest = _digest(request.content)
        if response.json()["sha256"] != digest:
            self.object("wrong receipt", f"{slot}")
        if self.promised.setdefault(slot, digest) != digest:
            self.object("double acceptance", f"{slot} was accepted with two bodies")

    def _check_constant(self, path: str, content: bytes) -> None:
        if self.seen.setdefault(path, content) != content:
            self.object("changed publication", f"{path} was told in two ways")

    # what is settled

    def look(self, key_server: KeyServer, aggregator: Aggregator, members: list[Member]) -> None:
        """At everything that was settled since the last look."""
        stores = aggregator.stores
        newest = stores.runs.status("demo").round
        for number in range(len(self.models), newest + 1):
            outcome = stores.reports.outcome("demo", number)
            if not outcome.state.is_settled:
                break
            self.tally.rounds[outcome.state.value] += 1
            self.models.append(self.models[-1] + self._movement(outcome, key_server, aggregator))
        self._check_aggregates(stores.rounds.aggregates("demo"))
        for member in members:
            self._check_model(member)

    def _movement(
        self, outcome: RoundOutcome, key_server: KeyServer, aggregator: Aggregator
    ) -> Any:
        assert self.document is not None
        if outcome.state is RoundState.ABORTED:
            self._check_abort(outcome)
            return 0.0
        document = self.document.content
        self._check_members(outcome, aggregator)
        published = aggregator.process.services.rounds.aggregate("demo", outcome.round)
        assert published is not None
        key = _secret_key(key_server, outcome.epoch)
        half = half_of(document.plan, key.public_key)
        total = decode_aggregate(open_blob(published).view(), document.plan, half)
        sums = decrypted_sum(total, document.plan, key)
        self._check_sums(outcome, sums, key)
        return average_update(sums, total.contributors, document.plan, document.noise.clip)

    def _check_members(self, outcome: RoundOutcome, aggregator: Aggregator) -> None:
        """Whoever has a receipt is in the sum, or was refused with a true reason."""
        report = aggregator.stores.reports.round("demo", outcome.round)
        rejected = {
            u.client: u.reason for u in report.updates if u.state is SubmissionState.REJECTED
        }
        promised = {slot.client for slot in self.promised if slot.round == outcome.round}
        for client in promised - set(outcome.included):
            slot = Slot(outcome.round, client)
            is_honest = self.promised[slot] == _digest(self.released.get(slot, b""))
            if client not in rejected or is_honest:
                self.object("lost", f"{slot} has a receipt: {rejected.get(client, 'not rejected')}")
        for client in outcome.included:
            if Slot(outcome.round, client) not in self.released:
                self.object("invented", f"{client} is in round {outcome.round} and sent nothing")

    def _check_abort(self, outcome: RoundOutcome) -> None:
        """Only for want of updates: honest ones with a receipt are too few."""
        assert self.document is not None
        enough = self.document.content.rounds.min_contributors
        honest = [s for s in self.promised if s.round == outcome.round and s in self.released]
        if len(honest) >= enough or "are needed" not in outcome.reason:
            self.object(
                "lost", f"round {outcome.round} was aborted with {honest}: {outcome.reason}"
            )

    def _check_sums(self, outcome: RoundOutcome, sums: Any, key: SecretKey) -> None:
        expected = self._expected(outcome, key)
        if (sums > expected).any():
            self.object("double", f"round {outcome.round}: {sums} instead of {expected}")
        if (sums < expected).any():
            self.object("lost", f"round {outcome.round}: {sums} instead of {expected}")

    def _expected(self, outcome: RoundOutcome, key: SecretKey) -> Any:
        """Without noise client u has its 1 at coordinate u; with noise the uploads tell."""
        assert self.document is not None
        document = self.document.content
        uploads = [self.released[Slot(outcome.round, client)] for client in outcome.included]
        if document.noise.laplace_scale:
            return expected_sum(uploads, document, secret_key_to_phe(key, SECRET_KEY_ACCESS))
        ones = np.zeros(document.plan.geometry.padded_d, np.int64)
        ones[[int(client.removeprefix("client-")) for client in outcome.included]] = 1
        return ones.reshape(document.plan.geometry.windows, -1)

    def _check_aggregates(self, digests: dict[int, str]) -> None:
        for number, digest in digests.items():
            self._check_constant(f"digest of round {number}", digest.encode())

    def _check_model(self, member: Member) -> None:
        """Every average exactly once: the parameters are those of the round, bit by bit."""
        assert self.document is not None
        path = member.state.path / "runs" / "demo" / "checkpoint.safetensors"
        if not path.exists() or member.is_known(path):
            return
        kept = ModelStore(path).load(self.document.sha256, len(self.models[0]))
        assert kept is not None
        if kept.settled >= len(self.models):
            self.object("ahead", f"{member.name} has settled round {kept.settled}")
        if not np.array_equal(kept.parameters, self.models[kept.settled]):
            self.object("wrong model", f"{member.name} after round {kept.settled}")

    def audit(self, key_server: KeyServer) -> None:
        """The chain goes on from where it was, and has every key that ever left."""
        entries = AuditStore(key_server.process.database).entries(self.audited.number, 100_000)
        self.audited = verify_chain(entries, self.audited)
        details = (entry.details for entry in entries if entry.event == "key-released")
        self.audited_releases |= {str(one["release_sha256"]) for one in details}
        if missing := self.releases - self.audited_releases:
            self.object("unaudited release", f"{len(missing)} keys left without a record")


def charges(member: Member, number: int) -> list[str]:
    """Digests that the ledger on the member's disk has for a round."""
    if not member.state.ledger.exists():
        return []
    lines = map(json.loads, member.state.ledger.read_text().splitlines()[1:])
    return [line["digest"] for line in lines if line["round"] == number]


def leftovers(aggregator: Aggregator) -> list[Path]:
    """Uploads that still lie on the disk."""
    return list(aggregator.folder.glob("state/runs/*/rounds/*/uploads/*"))


def _digest(octets: bytes) -> str:
    return sha256(octets).hexdigest()


def _is_settled(path: str, response: httpx.Response) -> bool:
    return bool(_OUTCOME.fullmatch(path)) and RoundState(response.json()["state"]).is_settled


def _secret_key(key_server: KeyServer, epoch: int) -> SecretKey:
    stored = KeyStore(key_server.process.database).epoch("main", epoch)
    return taken_out(key_server.process.authority.vault, stored)
