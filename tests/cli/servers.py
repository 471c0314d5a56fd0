"""Both servers as an operator finds them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm_cli.federation.folder import FederationFolder, make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes, RunningServer


@dataclass(frozen=True)
class Servers:
    key_server: RunningServer
    aggregator: RunningServer
    folder: FederationFolder

    @property
    def environment(self) -> dict[str, str]:
        """What an operator who is both operators has set."""
        return {
            "FEDPERM_KEYSERVER": self.key_server.address,
            "FEDPERM_AGGREGATOR": self.aggregator.address,
            "FEDPERM_KEY_OPERATOR_TOKEN_FILE": str(self.folder.operator_token(KEY_SERVER)),
            "FEDPERM_RUN_OPERATOR_KEY_FILE": str(self.folder.operator_keys),
            "FEDPERM_RUN_OPERATOR_TOKEN_FILE": str(self.folder.operator_token(AGGREGATOR)),
        }


@contextmanager
def running_servers(path: Path) -> Iterator[Servers]:
    folder = make_folder(path)
    with Processes(folder.logs) as processes:
        launcher = Launcher(folder, processes, insecure_for_tests=True)
        key_server = launcher.start_server(KEY_SERVER)
        aggregator = launcher.start_server(AGGREGATOR, processes=1)
        launcher.wait_until_ready()
        yield Servers(key_server, aggregator, folder)
