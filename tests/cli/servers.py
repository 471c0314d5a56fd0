"""Both servers as an operator finds them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fedperm_cli.federation.processes import Processes, RunningServer


@dataclass(frozen=True)
class Servers:
    key_server: RunningServer
    aggregator: RunningServer
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What an operator who is both operators has set."""
        return {
            "FEDPERM_KEYSERVER": self.key_server.address,
            "FEDPERM_AGGREGATOR": self.aggregator.address,
            "FEDPERM_KEY_OPERATOR_TOKEN_FILE": str(self.folder / "key-operator"),
            "FEDPERM_RUN_OPERATOR_TOKEN_FILE": str(self.folder / "run-operator"),
        }

    def token(self, operator: str) -> str:
        return (self.folder / operator).read_text()


@contextmanager
def running_servers(folder: Path) -> Iterator[Servers]:
    for operator in ("key-operator", "run-operator"):
        (folder / operator).write_text(secrets.token_urlsafe(32))
    (folder / "kek").write_text(secrets.token_hex(32))
    with Processes(folder) as processes:
        key_server = processes.start_server(
            "keyserver",
            "fedperm_keyserver",
            {
                "FEDPERM_KEYSERVER_STATE_DIRECTORY": str(folder / "keys"),
                "FEDPERM_KEYSERVER_OPERATOR_TOKEN_FILE": str(folder / "key-operator"),
                "FEDPERM_KEYSERVER_KEY_ENCRYPTION_KEY_FILE": str(folder / "kek"),
                "FEDPERM_KEYSERVER_INSECURE_FOR_TESTS": "true",
            },
        )
        aggregator = processes.start_server(
            "aggregator",
            "fedperm_aggregator",
            {
                "FEDPERM_AGGREGATOR_STATE_DIRECTORY": str(folder / "runs"),
                "FEDPERM_AGGREGATOR_OPERATOR_TOKEN_FILE": str(folder / "run-operator"),
                "FEDPERM_AGGREGATOR_PROCESSES": "1",
                "FEDPERM_AGGREGATOR_INSECURE_FOR_TESTS": "true",
            },
        )
        for server in (key_server, aggregator):
            server.wait_until_ready()
        yield Servers(key_server, aggregator, folder)
