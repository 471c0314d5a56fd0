"""A run of real processes with a key rotation, at the finest log level, left standing.

Key server, aggregator with its worker, clients as processes, and one in this process whose
secrets are known. The run is stopped after a round under each key: the clients wait for the next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedperm.wire.aggregator import RoundReport
from fedperm_cli.federation.processes import RunningProcess
from fedperm_cli.run.key_epochs import bring_key_epochs
from fedperm_client.initial_model import initial_model
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.settings import ClientSettings
from tests.client.documents import document
from tests.federation.world import KEY, World, world
from tests.leaks.known_client import KnownClient

KEY_BITS = 1024
"""Primes of 64 octets: no accident shows a piece of one."""
PARAMETERS, K1, K2 = 256, 64, 2
EPOCHS = 2

INITIAL = initial_model("synthetic", {"parameters": PARAMETERS}, seed=0)


@dataclass(frozen=True)
class StandingRun:
    world: World
    known: KnownClient
    clients: list[RunningProcess]
    tokens: list[str]
    document: str

    @property
    def rounds(self) -> list[RoundReport]:
        here = self.world
        return list(here.ask(lambda api: api.rounds(here.run, here.run_operator)).rounds)

    @property
    def checkpoint(self) -> Checkpoint:
        """What the known client has decrypted and applied."""
        store = ModelStore(self.known.state / "runs" / self.world.run / "checkpoint.safetensors")
        found = store.load(self.document, PARAMETERS)
        return found or Checkpoint(np.zeros(PARAMETERS), 0, 0, self.document)

    def go_on_until_settled_under(self, epoch: int) -> None:
        """The clients' own files tell, so nobody need be asked."""
        here = self.world
        here.ask(lambda api: api.resume(here.run, here.run_operator))
        here.wait_until(lambda: self.checkpoint.epoch == epoch, f"round under epoch {epoch}")
        here.ask(lambda api: api.stop(here.run, here.run_operator))
        here.wait_until(self._is_calm, "calm")

    def rotate(self) -> None:
        here = self.world
        here.ask_key_server(lambda api: api.create_epoch(KEY, EPOCHS, here.key_operator))
        here.operate(lambda both: bring_key_epochs(both.keys.api, both.runs, here.run))

    def _is_calm(self) -> bool:
        """All rounds that were begun are settled, by the known client too."""
        status = self.world.ask(lambda api: api.run(self.world.run, self.world.run_operator))
        return self.checkpoint.settled == status.round


@contextmanager
def standing_run(
    folder: Path, key_bits: int = KEY_BITS, clients: tuple[str, ...] = ("ada",)
) -> Iterator[StandingRun]:
    with world(folder, key_bits, log_level="DEBUG") as here:
        frozen = here.create_run(_document(len(clients) + 1), INITIAL)
        here.ask(lambda api: api.stop(here.run, here.run_operator))
        tokens = [here.token() for _ in ("known", *clients)]
        processes = [
            here.start_client(name, enrolment_token=token, max_epsilon=1e6, log_level="DEBUG")
            for name, token in zip(clients, tokens[1:], strict=True)
        ]
        known = _known_client(here, tokens[0])
        with known.running():
            run = StandingRun(here, known, processes, tokens, frozen.sha256)
            run.go_on_until_settled_under(1)
            run.rotate()
            run.go_on_until_settled_under(EPOCHS)
            yield run


def _known_client(here: World, token: str) -> KnownClient:
    settings = ClientSettings(
        keyserver_url=here.key_server.address,
        aggregator_url=here.aggregator.address,
        run=here.run,
        key=KEY,
        enrolment_token=token,
        state_directory=here.folder.state("known"),
        min_key_bits=here.key_bits,
        insecure_for_tests=True,
        accountant="no-shuffle-rdp",
        max_epsilon=1e6,
        accept_no_record_guarantee=True,
        min_contributors=2,
    )
    return KnownClient(here.key_server.address, here.aggregator.address, settings)


def _document(clients: int) -> dict[str, Any]:
    wanted = document(
        INITIAL,
        task={"name": "synthetic", "options": {"parameters": PARAMETERS}},
        training={"learning_rate": 1.0},
        noise={"clip": 1.0, "laplace_scale": 0.5},
        shuffle={"k1": K1, "k2": K2},
        rounds={
            "count": 1000,
            "clients_per_round": clients,
            "min_contributors": clients,
            "start_with": clients,
            "deadline_seconds": 120.0,
            "extension_seconds": 60.0,
        },
    )
    return wanted.model_dump(mode="json", exclude={"key"})
