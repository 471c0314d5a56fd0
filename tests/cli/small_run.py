"""A tiny run, made by `fedperm run create --document`, and clients that take part in it.

The clients are the independent ones of tests/federation: they need no torch and are quick.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from fedperm.run_document import KeySpec, ModelSpec, TensorSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import encode_model
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.planning import plan_run
from tests.cli.operator import Operator
from tests.federation.independent_client import Identity, KeyServer, Participant

INITIAL = encode_model(np.zeros(10))
MODEL = ModelSpec(
    tensors=(TensorSpec(name="weight", shape=(10,)),), initial_sha256=sha256_of(INITIAL)
)
OPTIONS = RunOptions(
    task="none",
    clients=2,
    min_contributors=2,
    rounds=2,
    learning_rate=1.0,
    k1=4,
    k2=2,
    clip=1.0,
    laplace_scale=0.1,
    accountant="no-shuffle-rdp",
    insecure_test_key=True,
)


def write_run(
    operator: Operator, folder: Path, run: str, key: str, options: RunOptions = OPTIONS
) -> tuple[Path, Path]:
    """The document of a run under a key, and the initial model, as files."""
    operator.json("keys", "create", key, "--key-bits", "512")
    identity = httpx.get(f"{operator.environment['FEDPERM_KEYSERVER']}/v1/identity").json()
    spec = KeySpec(key=key, parameters={"key_bits": 512}, signing_key=identity["signing_key"])
    document, model = folder / f"{run}.json", folder / f"{run}.safetensors"
    document.write_bytes(
        plan_run(run, options, MODEL, spec, operator.identity.keys).document.octets
    )
    model.write_bytes(INITIAL)
    return document, model


def make_run(
    operator: Operator, folder: Path, run: str, key: str, options: RunOptions = OPTIONS
) -> str:
    document, model = write_run(operator, folder, run, key, options)
    operator.json("run", "create", run, "--document", str(document), "--initial-model", str(model))
    return run


class ReportingClient(Participant):
    """Says after each round that its model has this accuracy."""

    accuracy = 0.75

    def settle(self, number: int) -> None:
        super().settle(number)
        self.report(number, {"test": {"accuracy": self.accuracy, "loss": 0.5}})


@contextmanager
def joined_client(operator: Operator, run: str, key: str) -> Iterator[ReportingClient]:
    token = operator.json("client", "token", key)["token"]
    key_server = KeyServer(operator.environment["FEDPERM_KEYSERVER"], key, Identity())
    client = ReportingClient(operator.environment["FEDPERM_AGGREGATOR"], run, key_server, 0.5)
    with key_server.http, client.http:
        key_server.enrol(token)
        client.join()
        yield client


@contextmanager
def two_clients_at_work(operator: Operator, run: str, key: str) -> Iterator[list[str]]:
    """Their names; at the end of the block the run is over, and both have dealt with it."""
    joined = joined_client(operator, run, key), joined_client(operator, run, key)
    with joined[0] as one, joined[1] as other, ThreadPoolExecutor() as executor:
        parts = [executor.submit(client.take_part) for client in (one, other)]
        yield [one.me.name, other.me.name]
        for part in parts:
            part.result()


@dataclass(frozen=True)
class FinishedRun:
    """`live` is what `fedperm run watch --json` printed while the clients were at work."""

    run: str
    clients: list[str]
    live: str


def finish_run(operator: Operator, folder: Path, run: str) -> FinishedRun:
    make_run(operator, folder, run, key=run)
    with two_clients_at_work(operator, run, run) as clients:
        live = operator.succeeds("run", "watch", run, "--json")
    return FinishedRun(run, clients, live)
