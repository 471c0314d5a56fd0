"""A federation in containers, through docker compose, seen as an operator sees it."""

import json
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import httpx
from python_on_whales import Container, DockerClient
from python_on_whales.exceptions import DockerException

from fedperm.services import AGGREGATOR, ServiceSpec

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
SECRETS = "/run/fedperm"
STATE = "/var/lib/fedperm"


class Composed:
    """A project of its own; all it made is gone after the block. `knobs` are what a .env holds."""

    def __init__(
        self, project: str, folder: Path, knobs: dict[str, object], *more_files: Path
    ) -> None:
        self.project, self.folder = project, folder
        self.env_file = folder / "knobs.env"
        self.env_file.write_text("".join(f"{name}={value}\n" for name, value in knobs.items()))
        self.files = (COMPOSE_FILE, *more_files)
        self._opened: list[httpx.Client] = []
        self.docker = DockerClient(
            compose_files=list(self.files),
            compose_env_files=[self.env_file],
            compose_project_name=project,
        )

    def __enter__(self) -> Self:
        self.down()
        return self

    def __exit__(self, *_: object) -> None:
        for http in self._opened:
            http.close()
        try:
            self.down()
        except DockerException as error:  # what the tests said stands; the next project has its own
            sys.stderr.write(f"{self.project} is not removed altogether: {error}\n")

    def down(self) -> None:
        self.docker.compose.down(volumes=True, remove_orphans=True, timeout=5, quiet=True)

    def up(self, clients: int) -> None:
        """`docker compose up -d --scale client=N`."""
        self.docker.compose.up(detach=True, scales={"client": clients}, quiet=True)

    def containers(self, service: str) -> list[Container]:
        """In the order in which they were made, those that have ended included."""
        found = self.docker.compose.ps(services=[service], all=True)
        return sorted(found, key=lambda container: container.created)

    def container(self, service: str) -> Container:
        (container,) = self.containers(service)
        return container

    def operator_exit_code(self) -> int:
        """`docker wait $(docker compose ps -aq operator)`."""
        code = self.docker.wait(self.container("operator"))
        assert isinstance(code, int)
        return code

    def log(self, service: str) -> str:
        return str(self.docker.compose.logs(services=[service], no_log_prefix=True))

    def read(self, container: Container, path: str) -> bytes:
        """Also from containers that have ended."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            target = Path(folder) / "file"
            self.docker.copy((container, path), target)
            return target.read_bytes()

    def read_json(self, container: Container, path: str) -> Any:
        return json.loads(self.read(container, path))

    def python(self, container: Container, program: str) -> str:
        return str(self.docker.execute(container, ["python", "-c", program])).strip()

    def http(self, service: ServiceSpec) -> httpx.Client:
        """The service's REST interface as the host reaches it."""
        ca = self.read(self.container(service.name), f"{SECRETS}/ca.pem").decode()
        (mapping,) = self.container(service.name).network_settings.ports[f"{service.port}/tcp"]
        http = httpx.Client(
            base_url=f"https://localhost:{mapping['HostPort']}",
            verify=ssl.create_default_context(cadata=ca),
            timeout=30,
        )
        self._opened.append(http)
        return http

    def aggregator(self) -> "AggregatorView":
        token = self.read(self.container(AGGREGATOR.name), f"{SECRETS}/operator-token").decode()
        return AggregatorView(self.http(AGGREGATOR), token)


class AggregatorView:
    """What the run operator may see; tries again while the aggregator is away."""

    def __init__(self, http: httpx.Client, token: str, run: str = "demo") -> None:
        self._http, self._run = http, run
        self._headers = {"Authorization": f"Bearer {token}"}

    def newest(self) -> int:
        """The number of the newest round; waits until there is a run."""
        return int(self.until(lambda: self._get(""), "a run")["round"])

    def rounds(self) -> list[Any]:
        return list(self._get("/rounds")["rounds"])

    def published(self) -> list[Any]:
        return [r for r in self.rounds() if r["outcome"]["state"] == "published"]

    def until(self, done: Callable[[], Any], what: str, seconds: float = 120) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                if answer := done():
                    return answer
            except (httpx.TransportError, httpx.HTTPStatusError):
                pass  # it is being restarted, or the run is not made yet
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
            time.sleep(0.1)

    def _get(self, path: str) -> Any:
        response = self._http.get(f"/v1/runs/{self._run}{path}", headers=self._headers)
        response.raise_for_status()
        return response.json()


def running(containers: Sequence[Container]) -> list[Container]:
    return [container for container in containers if container.state.running]


def engine_answers() -> bool:
    try:
        DockerClient().system.info()
    except DockerException:
        return False
    return True
