"""Images are built once. Without an engine these tests fail: whoever asks for them needs one."""

import pytest
from python_on_whales import DockerClient

from tests.docker.composed import COMPOSE_FILE, engine_answers


@pytest.fixture(scope="session", autouse=True)
def images() -> DockerClient:
    """As `docker compose build` makes them."""
    assert engine_answers(), "no Docker engine answers: start one, and see `docker info`"
    docker = DockerClient(compose_files=[COMPOSE_FILE])
    docker.compose.build(quiet=True)
    return docker
