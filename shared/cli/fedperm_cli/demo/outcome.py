"""What a demo gave."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.run_document import FrozenDocument
from fedperm_cli.demo.federation import DemoRun
from fedperm_cli.demo.options import RUN
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.run.outcome import RunOutcome


@dataclass(frozen=True)
class ClientModel:
    """What a client holds after its last round, read from its checkpoint. `client` is
    the name of its process."""

    client: str
    settled: RoundNumber
    parameters_sha256: str
    model: str


@dataclass(frozen=True, kw_only=True)
class Outcome(RunOutcome):
    clients: tuple[ClientModel, ...]
    seconds: float
    folder: Path
    logs: Path

    @property
    def identical(self) -> bool:
        """Every client has dealt with every round and holds the same parameters, bit by bit."""
        held = {(client.settled, client.parameters_sha256) for client in self.clients}
        return len(held) == 1 and self.clients[0].settled == len(self.rounds)

    @property
    def agreed(self) -> bool:
        """Whoever tested a round's model found the same accuracy."""
        return all(len(summary.accuracies) <= 1 for summary in self.rounds)

    @property
    def succeeded(self) -> bool:
        return self.completed and self.identical and self.agreed

    def to_json(self) -> str:
        more = {
            "identical": self.identical,
            "agreed": self.agreed,
            "clients": [asdict(client) for client in self.clients],
            "seconds": self.seconds,
            "folder": str(self.folder),
            "logs": str(self.logs),
        }
        return json.dumps(self.members() | more)


def outcome_of(run: DemoRun, folder: FederationFolder) -> Outcome:
    """Models are read from the disk: not what clients say, but what they have."""
    document = run.prepared.document
    return Outcome(
        **vars(run.outcome()),
        clients=tuple(_read_model(name, folder.state(name), document) for name in run.clients),
        seconds=run.seconds,
        folder=folder.path,
        logs=folder.logs,
    )


def _read_model(client: str, state: Path, document: FrozenDocument) -> ClientModel:
    from fedperm_client.model_store import ModelStore  # noqa: PLC0415 (imports torch)

    run = state / "runs" / RUN
    store = ModelStore(run / "checkpoint.safetensors")
    checkpoint = store.load(document.sha256, document.content.model.parameters)
    if checkpoint is None:
        return ClientModel(client, settled=NO_ROUND, parameters_sha256="", model="")
    model = str(run / "model.safetensors")
    return ClientModel(client, checkpoint.settled, checkpoint.sha256, model)
