"""`python -m tests.federation.witness_service`: a further service, as somebody would add one. It is
in no list but a test's."""

import sys
from pathlib import Path
from typing import ClassVar

from prometheus_client import CollectorRegistry
from pydantic_settings import SettingsConfigDict

from fedperm.services import ServiceSpec
from fedperm.settings import read_secret
from fedperm.state_folder import sole_user
from fedperm.web.server_settings import Port, ServerSettings, run_server
from fedperm.web.service import build_service
from fedperm.web.serving import serve

WITNESS = ServiceSpec(
    name="witness",
    title="witness",
    module="tests.federation.witness_service",
    audience="fedperm-witness",
    scope="countersign",
    port=8200,
    operator="witness",
    secrets=("signet",),
)


class WitnessSettings(ServerSettings):
    spec: ClassVar[ServiceSpec] = WITNESS
    model_config = SettingsConfigDict(env_prefix=WITNESS.env_prefix)

    port: Port = WITNESS.port
    signet_file: Path


def run(settings: WitnessSettings) -> None:
    settings.operator()
    read_secret(settings.signet_file)
    with sole_user(settings.state_directory, WITNESS.title):
        app = build_service(WITNESS, ready=lambda: None, registry=CollectorRegistry())
        serve(app, settings.serving())


if __name__ == "__main__":
    sys.exit(run_server(WitnessSettings, run))
