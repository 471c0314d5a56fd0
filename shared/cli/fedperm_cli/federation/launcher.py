"""Servers and clients of a federation as processes: settings in, environment variables out."""

from fedperm.randomness import from_operating_system
from fedperm.services import AGGREGATOR, CLIENT, SERVICES, ServiceSpec
from fedperm_cli.federation.folder import FederationFolder
from fedperm_cli.federation.processes import (
    READY_SECONDS,
    Processes,
    RunningProcess,
    RunningServer,
)
from fedperm_cli.operator.identity import OperatorIdentity

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Many processes share few cores: more threads would only wait for each other."""


class Launcher:
    """The processes belong to whoever opened `processes`, and end with that block.

    Settings that are given to a method are added to those that follow from the folder, and win.
    """

    def __init__(
        self, folder: FederationFolder, processes: Processes, *, insecure_for_tests: bool = False
    ) -> None:
        self.folder = folder
        self.servers: dict[ServiceSpec, RunningServer] = {}
        self._processes = processes
        self._insecure_for_tests = insecure_for_tests

    def start_server(self, service: ServiceSpec, **settings: object) -> RunningServer:
        """On a free port; ready a little later."""
        secrets = service.secret_settings().items()
        usual = {
            "state_directory": self.folder.state(service.name),
            "operator_token_file": self.folder.operator_token(service),
            "insecure_for_tests": self._insecure_for_tests,
            **{setting: self.folder.secrets / secret for setting, secret in secrets},
        }
        environment = service.environment(**{**usual, **settings})
        self.servers[service] = self._processes.start_server(service, environment)
        return self.servers[service]

    def start_servers(self) -> None:
        """One of each service."""
        for service in SERVICES.values():
            self.start_server(service)

    def wait_until_ready(self, seconds: float = READY_SECONDS) -> None:
        for server in self.servers.values():
            server.wait_until_ready(seconds)

    def operator_identity(self) -> OperatorIdentity:
        """Made at first use: clients pin it before there is a run."""
        return OperatorIdentity.kept_at(self.folder.operator_keys, from_operating_system())

    def start_client(
        self, name: str, *, module: str = CLIENT.module, **settings: object
    ) -> RunningProcess:
        """Knows the addresses of all servers that were started, which must be ready."""
        usual = {
            **{f"{service.name}_url": server.address for service, server in self.servers.items()},
            "state_directory": self.folder.state(name),
            "insecure_for_tests": self._insecure_for_tests,
            "operator_fingerprint": self.operator_identity().keys.fingerprint,
        }
        environment = CLIENT.environment(**{**usual, **settings})
        return self._processes.start(name, module, {**ONE_THREAD, **environment})

    def start_dashboard(self) -> RunningProcess:
        """The run operator's, for the aggregator that was started, which must be ready."""
        self.operator_identity()
        settings = {
            "FEDPERM_AGGREGATOR": self.servers[AGGREGATOR].address,
            "FEDPERM_RUN_OPERATOR_TOKEN_FILE": str(self.folder.operator_token(AGGREGATOR)),
            "FEDPERM_RUN_OPERATOR_KEY_FILE": str(self.folder.operator_keys),
            "FEDPERM_DASHBOARD_PORT": "0",
            "FEDPERM_DASHBOARD_LINK_FILE": str(self.folder.login_link),
        }
        return self._processes.start("dashboard", "fedperm_cli.dashboard_process", settings)

    def login_link(self, dashboard: RunningProcess, seconds: float = READY_SECONDS) -> str:
        """Once it listens."""

        def is_there() -> bool:
            dashboard.check()
            return self.folder.login_link.exists()

        dashboard.wait_until(is_there, seconds, "has no login link")
        return self.folder.login_link.read_text().strip()
