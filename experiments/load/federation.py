"""The federation of docker-compose.yml in load mode, as a compose project of its own."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from python_on_whales import Container, DockerClient
from python_on_whales.exceptions import DockerException

from experiments.load.errors import LoadError
from experiments.load.interface import Told, ask
from experiments.load.setting import Setting
from experiments.load.summary import Ending, Endings
from fedperm.api.connection import Patience
from fedperm.ids import RunName
from fedperm.services import AGGREGATOR, SERVICES
from fedperm_cli.servers.sessions import Server

PROJECT = "fedperm-load"
RUN = RunName("load")
OPERATOR, CLIENT = "load-operator", "load-client"
_LOGGED = "init", *SERVICES, OPERATOR, CLIENT
_ERASE_LINE = "\x1b[2K"
"""Before every line of `docker compose logs`, also where there is no terminal."""
_COMPOSE_FILE = Path(__file__).parents[2] / "docker-compose.yml"
_SECRETS = "/run/fedperm"
_POLL_SECONDS = 2.0
_LAST_WORDS_SECONDS = 60.0
"""For clients to settle the last round after the operator saw the run's end."""


class Federation:
    def __init__(self, docker: DockerClient, setting: Setting) -> None:
        self._docker = docker
        self._setting = setting

    def start_servers(self) -> Container:
        """The aggregator, healthy."""
        self._docker.compose.up([AGGREGATOR.name], detach=True, wait=True, quiet=True)
        (aggregator,) = self._docker.compose.ps([AGGREGATOR.name])
        return aggregator

    def start_clients(self) -> Container:
        """One of them."""
        scales = {CLIENT: self._setting.clients}
        self._docker.compose.up(
            # images may be built meanwhile: the aggregator must stay the one that is watched
            [OPERATOR, CLIENT],
            detach=True,
            recreate=False,
            scales=scales,
            quiet=True,
        )
        return self._docker.compose.ps([CLIENT], all=True)[0]

    def wait(self, limit_seconds: float) -> Endings:
        """Until the operator and all clients have ended, or one has failed for good."""
        deadline = time.monotonic() + limit_seconds
        while not self._ended(OPERATOR) and not self._failed_clients():
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_SECONDS)
        deadline = min(deadline, time.monotonic() + _LAST_WORDS_SECONDS)
        while len(self._ended(CLIENT)) < self._setting.clients and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return self._endings()

    def tell(self) -> Told:
        _, port = self._docker.compose.port(AGGREGATOR.name, AGGREGATOR.port)
        with TemporaryDirectory() as folder:
            ca_file = Path(folder, "ca.pem")
            ca_file.write_text(self._secret("ca.pem"))
            token = self._secret("operator-token")
            server = Server(f"https://localhost:{port}", ca_file, Patience(10.0))
            return ask(server, token.strip(), RUN)

    def logs(self) -> str:
        """Compose shows those of services that it does not attach to only if they are named."""
        written: str = self._docker.compose.logs(list(_LOGGED), timestamps=True)
        return written.replace(_ERASE_LINE, "")

    def _secret(self, name: str) -> str:
        (aggregator,) = self._docker.compose.ps([AGGREGATOR.name])
        return str(aggregator.execute(["cat", f"{_SECRETS}/{name}"]))

    def _ended(self, service: str) -> list[Container]:
        """One call whatever the number of clients: waiting must not be a load of its own."""
        return self._docker.container.list(
            all=True,
            filters=[
                ("label", f"com.docker.compose.project={PROJECT}"),
                ("label", f"com.docker.compose.service={service}"),
                ("status", "exited"),
            ],
        )

    def _failed_clients(self) -> list[Container]:
        return [client for client in self._ended(CLIENT) if client.state.exit_code != 0]

    def _endings(self) -> Endings:
        (operator,) = self._endings_of(OPERATOR)
        servers = self._endings_of(*SERVICES)
        return Endings(operator, self._endings_of(CLIENT), servers)

    def _endings_of(self, *services: str) -> tuple[Ending, ...]:
        containers = self._docker.compose.ps(list(services), all=True)
        return tuple(_ending(container) for container in containers)


def _ending(container: Container) -> Ending:
    state = container.state
    exit_code = state.exit_code if state.status == "exited" else None
    return Ending(exit_code, container.restart_count or 0)


@contextmanager
def federation(setting: Setting) -> Iterator[Federation]:
    """Nothing is left of it, or of an earlier one that was killed."""
    docker = DockerClient(
        # given to the command itself, our settings go before those of the caller's shell and .env
        client_call=["env", *(f"{k}={v}" for k, v in setting.variables().items()), "docker"],
        compose_files=[_COMPOSE_FILE],
        compose_profiles=["load"],
        compose_project_name=PROJECT,
    )
    try:
        docker.compose.down(volumes=True, quiet=True)
        try:
            yield Federation(docker, setting)
        finally:
            docker.compose.down(volumes=True, quiet=True)
    except DockerException as error:
        last_words = (error.stderr or str(error)).strip().splitlines()[-1]
        raise LoadError(f"Docker says: {last_words}", "see the log; make images") from error
