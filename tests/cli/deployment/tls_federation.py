"""A prepared folder, both servers with TLS out of it, and clients that enrol by its token."""

import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from fedperm.services import AGGREGATOR, KEY_SERVER, SERVICES
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes, RunningProcess, RunningServer
from tests.cli.operator import Operator


@dataclass(frozen=True)
class TlsFederation:
    folder: Path
    launcher: Launcher

    @property
    def key_server(self) -> RunningServer:
        return self.launcher.servers[KEY_SERVER]

    @property
    def aggregator(self) -> RunningServer:
        return self.launcher.servers[AGGREGATOR]

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
                "FEDPERM_RUN_OPERATOR_KEY_FILE": str(
                    self.folder / "operator/run-operator-key.json"
                ),
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
        return self.launcher.start_client(
            name,
            ca_file=self.ca_file,
            enrolment_token_file=self.token_file,
            operator_fingerprint=(self.folder / "client/operator-fingerprint").read_text().strip(),
            run="demo",
            key="demo",
            min_key_bits=512,
            accept_no_privacy=True,
            min_contributors=2,
        )


@contextmanager
def tls_federation(path: Path) -> Iterator[TlsFederation]:
    Operator({}).succeeds("deployment", "prepare", str(path))
    with Processes(path) as processes:
        launcher = Launcher(FederationFolder(path), processes, insecure_for_tests=True)
        for service in SERVICES.values():
            secrets = service.secret_settings().items()
            launcher.start_server(
                service,
                state_directory=path / f"{service.name}-state",
                operator_token_file=path / service.name / "operator-token",
                tls_certificate=path / service.name / "tls-certificate.pem",
                tls_key=path / service.name / "tls-key.pem",
                **{setting: path / service.name / secret for setting, secret in secrets},
                **({"processes": 1} if service is AGGREGATOR else {}),
            )
        for server in launcher.servers.values():
            server.wait_until_ready(ca_file=path / "client/ca.pem")
        yield TlsFederation(path, launcher)


def wait_until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)
