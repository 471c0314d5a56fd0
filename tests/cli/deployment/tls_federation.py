"""A prepared folder, both servers with TLS out of it, and clients that enrol by its token."""

import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from fedperm_cli.federation.processes import Processes, RunningProcess, RunningServer
from tests.cli.operator import Operator


@dataclass(frozen=True)
class TlsFederation:
    folder: Path
    processes: Processes
    key_server: RunningServer
    aggregator: RunningServer

    @property
    def token_file(self) -> Path:
        return self.folder / "client/enrolment-token"

    @property
    def ca_file(self) -> Path:
        return self.folder / "client/ca.pem"

    @property
    def operator(self) -> Operator:
        """As the operator's container is set."""
        return Operator(
            {
                "FEDPERM_KEYSERVER": self.key_server.address,
                "FEDPERM_AGGREGATOR": self.aggregator.address,
                "FEDPERM_CA_FILE": str(self.folder / "operator/ca.pem"),
                "FEDPERM_KEY_OPERATOR_TOKEN_FILE": str(self.folder / "operator/key-operator-token"),
                "FEDPERM_RUN_OPERATOR_TOKEN_FILE": str(self.folder / "operator/run-operator-token"),
                "FEDPERM_OPERATOR_TOKEN_FILE": str(self.token_file),
                "FEDPERM_OPERATOR_KEY_BITS": "512",
                "FEDPERM_OPERATOR_INSECURE_TEST_KEY": "true",
                "FEDPERM_OPERATOR_DATASET": "synthetic",
                "FEDPERM_OPERATOR_PARAMETERS": "8",
                "FEDPERM_OPERATOR_NO_NOISE": "true",
                "FEDPERM_OPERATOR_SHARDS": "2",
                "FEDPERM_OPERATOR_QUORUM": "2",
                "FEDPERM_OPERATOR_ROUNDS": "2",
                "FEDPERM_OPERATOR_K1": "",
            }
        )

    def at_aggregator(self, method: str, path: str) -> httpx.Response:
        """As the run operator."""
        token = (self.folder / "operator/run-operator-token").read_text()
        return httpx.request(
            method,
            f"{self.aggregator.address}{path}",
            headers={"Authorization": f"Bearer {token}"},
            verify=ssl.create_default_context(cafile=self.ca_file),
        )

    @contextmanager
    def clients(self, count: int) -> Iterator["Future[list[RunningProcess]]"]:
        """Started as soon as there is a token, as compose does it."""

        def start() -> list[RunningProcess]:
            wait_until(self.token_file.exists)
            return [self._start_client(f"client-{number}") for number in range(count)]

        with ThreadPoolExecutor(1) as executor:
            yield executor.submit(start)

    def model_of(self, client: str) -> bytes:
        """After the last round."""
        return (self.folder / client / "runs/demo/model.safetensors").read_bytes()

    def _start_client(self, name: str) -> RunningProcess:
        settings = _settings(
            "CLIENT",
            keyserver_url=self.key_server.address,
            aggregator_url=self.aggregator.address,
            ca_file=self.ca_file,
            enrolment_token_file=self.token_file,
            run="demo",
            key="demo",
            state_directory=self.folder / name,
            min_key_bits=512,
            insecure_for_tests=True,
            accept_no_privacy=True,
        )
        return self.processes.start(name, "fedperm_client", {"OMP_NUM_THREADS": "1", **settings})


@contextmanager
def tls_federation(folder: Path) -> Iterator[TlsFederation]:
    Operator({}).succeeds("deployment", "prepare", str(folder))
    with Processes(folder) as processes:
        key_server, aggregator = (
            processes.start_server(
                name,
                f"fedperm_{name}",
                _settings(
                    name.upper(),
                    state_directory=folder / f"{name}-state",
                    operator_token_file=folder / name / "operator-token",
                    tls_certificate=folder / name / "tls-certificate.pem",
                    tls_key=folder / name / "tls-key.pem",
                    insecure_for_tests=True,
                    **more,
                ),
            )
            for name, more in {
                "keyserver": {"key_encryption_key_file": folder / "keyserver/key-encryption-key"},
                "aggregator": {"processes": 1},
            }.items()
        )
        for server, name in ((key_server, "keyserver"), (aggregator, "aggregator")):
            address_file = folder / f"{name}.address"
            server.wait_until(address_file.exists, 30, "does not listen")
        yield TlsFederation(folder, processes, key_server, aggregator)


def wait_until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _settings(service: str, **settings: Any) -> dict[str, str]:
    return {f"FEDPERM_{service}_{name.upper()}": str(value) for name, value in settings.items()}
