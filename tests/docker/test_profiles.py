"""Profiles whose images no test machine can pull are at least understood by compose."""

import pytest
from python_on_whales import DockerClient

from tests.docker.composed import COMPOSE_FILE

pytestmark = pytest.mark.docker


@pytest.mark.parametrize(
    ("profile", "services"),
    [
        ("load", {"load-operator", "load-client"}),
        ("postgres", {"postgres"}),
        ("monitoring", {"prometheus", "grafana"}),
    ],
)
def test_a_profile_adds_its_services_and_no_others(profile, services):
    def configured(*profiles: str) -> set[str]:
        docker = DockerClient(compose_files=[COMPOSE_FILE], compose_profiles=list(profiles))
        return set(docker.compose.config().services)

    assert configured(profile) - configured() == services
