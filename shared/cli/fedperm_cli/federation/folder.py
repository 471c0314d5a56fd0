"""The folder in which everything of a federation on this machine lies."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from fedperm.durable_file import create_durably
from fedperm.services import SERVICES, ServiceSpec


@dataclass(frozen=True)
class FederationFolder:
    path: Path

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def secrets(self) -> Path:
        return self.path / "secrets"

    @property
    def enrolment_token(self) -> Path:
        return self.secrets / "enrolment-token"

    @property
    def operator_keys(self) -> Path:
        """The run operator's own: no server is told of it."""
        return self.secrets / "run-operator-key.json"

    @property
    def login_link(self) -> Path:
        """The newest of the operator's dashboard."""
        return self.secrets / "dashboard-link"

    def operator_token(self, service: ServiceSpec) -> Path:
        return self.secrets / service.operator_token

    def state(self, name: str) -> Path:
        """Of one process."""
        return self.path / name


def make_folder(path: Path) -> FederationFolder:
    """With the credentials that servers and operators share, which nobody else may read."""
    folder = FederationFolder(path.resolve())
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.logs.mkdir()
    folder.secrets.mkdir(mode=0o700)
    for service in SERVICES.values():
        create_durably(folder.operator_token(service), secrets.token_urlsafe(32).encode())
        for secret in service.secrets:
            create_durably(folder.secrets / secret, secrets.token_hex(32).encode())
    return folder
