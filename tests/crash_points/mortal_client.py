"""Ada, a client whose process dies, and what must be true of her disk whenever it has."""

import signal
from collections import Counter
from collections.abc import Iterator

from fedperm.privacy.ledger import read_lines
from fedperm.services import CLIENT
from fedperm.wire.digest import content_digest, sha256_of
from fedperm.wire.model import encode_model
from fedperm_cli.federation.processes import Processes
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.state_directory import StateDirectory
from fedperm_client.summary import Summary
from tests.crash_points.mortal import until
from tests.crash_points.surroundings import KEY, NAME, OPTIONS, Federation
from tests.crash_points.tally import Case, Tally
from tests.crash_points.trap import Trap
from tests.keyserver.server import KEY_BITS


class Ada:
    def __init__(
        self,
        processes: Processes,
        federation: Federation,
        tally: Tally,
        token: str,
        max_epsilon: float,
        *,
        retried: bool,
    ) -> None:
        folder = federation.folder / NAME
        self._processes = processes
        self._federation = federation
        self.tally = tally
        self.retried = retried
        self.state = StateDirectory(folder / "state")
        self.trap = Trap(folder / "trap")
        self._settings = {
            "keyserver_url": federation.key_server_url,
            "aggregator_url": federation.aggregator_url,
            "key": KEY,
            "enrolment_token": token,
            "state_directory": self.state.path,
            "max_epsilon": max_epsilon,
            "accountant": "no-shuffle-rdp",
            "accept_no_record_guarantee": True,
            "min_contributors": 2,
            "min_key_bits": KEY_BITS,
            "insecure_for_tests": True,
            "patience_seconds": 30,
        }

    def start(self, moment: str | None = None) -> None:
        """Until this moment, or until the run is over."""
        if moment is not None:
            self.trap.set(moment)
        environment = CLIENT.environment(**self._settings, run=self._federation.bench.run)
        self.process = self._processes.start(NAME, CLIENT.module, environment)

    async def died_of(self, moment: str) -> None:
        """Waits for the end, which must be this one, and looks at what it left."""
        code = await self.ended()
        assert code == -signal.SIGKILL, self.process.failure(f"did not die of {moment}")
        assert not self.trap.is_set
        self.tally.cases.add(Case(moment, self.retried))
        self.judge(moment)

    async def ended(self) -> int:
        """Her exit code."""

        async def is_over() -> bool:
            return self.process.poll() is not None

        await until(is_over, "Ada has ended")
        return self.process.wait(0)

    def judge(self, when: str) -> None:
        self.tally.second_releases += [f"{when}: {what}" for what in self._released()]
        self.tally.lost += [f"{when}: {what}" for what in self._lost()]
        self.tally.double += [f"{when}: {what}" for what in self._misapplied()]

    @property
    def summary(self) -> Summary:
        return Summary.model_validate_json(self.state.summary.read_text())

    @property
    def charged(self) -> Counter[tuple[str, int]]:
        """How often each round of each run was charged."""
        return Counter((line["run"], line["round"]) for line in self._charges())

    def _charges(self) -> list[dict[str, str]]:
        return read_lines(self.state.ledger)[1:] if self.state.ledger.exists() else []

    def _released(self) -> Iterator[str]:
        """One body a round, paid for before it left."""
        paid = {(c["run"], c["round"], content_digest(c["digest"])) for c in self._charges()}
        for (run, number, client), digests in self._federation.uploads.announced.items():
            if client != NAME:
                continue
            if len(digests) > 1:
                yield f"{len(digests)} bodies for round {number} of {run}"
            if any((run, number, digest.decode()) not in paid for digest in digests):
                yield f"a body for round {number} of {run} was not paid for"
        for place, times in self.charged.items():
            if times > 1:
                yield f"{place} was paid for {times} times"

    def _lost(self) -> Iterator[str]:
        """What left for a round that is not settled here must be there to be sent again."""
        for (run, number, client), digests in self._federation.uploads.announced.items():
            checkpoint = self._checkpoint(run)
            if client == NAME and (checkpoint is None or number > checkpoint.settled):
                outbox = self.state.run(run).outbox
                kept = {content_digest(sha256_of(p.read_bytes())) for p in outbox.glob("round-*")}
                if not {digest.decode() for digest in digests} <= kept:
                    yield f"the body for round {number} of {run}"

    def _misapplied(self) -> Iterator[str]:
        for run in self._federation.documents:
            checkpoint = self._checkpoint(run)
            if checkpoint is not None:
                expected = self._federation.models[run, checkpoint.settled]
                if checkpoint.sha256 != sha256_of(encode_model(expected)):
                    yield f"the model after round {checkpoint.settled} of {run} is another"

    def _checkpoint(self, run: str) -> Checkpoint | None:
        document = self._federation.documents.get(run, "")
        path = self.state.path / "runs" / run / "checkpoint.safetensors"
        return ModelStore(path).load(document, OPTIONS["parameters"])
