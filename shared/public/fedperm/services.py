"""The programs of a federation: the only list of them.

Audiences and scopes of access tokens, default ports, environment variables, names in messages, the
folders of a deployment and the launcher of a federation are derived from an entry here. Files that
cannot import it (docker-compose.yml, .env.example, Dockerfiles, docs) are compared with it by
tests/deployment/test_services.py. A new service is one entry in `SERVICES` and its package.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProgramSpec:
    """A program that reads its settings from environment variables.

    `name` stands in variables, files and addresses, `title` in sentences; `python -m module` runs
    the program.
    """

    name: str
    title: str
    module: str

    @property
    def env_prefix(self) -> str:
        return f"FEDPERM_{self.name.upper()}_"

    @property
    def distribution(self) -> str:
        """What pip installs; the container image has the same name."""
        return self.module.replace("_", "-")

    def environment(self, **settings: object) -> dict[str, str]:
        """Settings as the environment variables that the program reads."""
        return {f"{self.env_prefix}{name.upper()}": str(value) for name, value in settings.items()}


@dataclass(frozen=True, kw_only=True)
class ServiceSpec(ProgramSpec):
    """A program that clients reach over HTTP.

    A client's access token names the `audience` at which it is accepted and the `scope` of what it
    permits there. `operator` is the role that holds the service's operator token: "key" stands for
    the key operator. `secrets` name further files with 32 random octets in hexadecimal.
    """

    audience: str
    scope: str
    port: int
    operator: str
    secrets: tuple[str, ...] = ()

    @property
    def operator_token(self) -> str:
        """The operator's copy of the token, as a file name."""
        return f"{self.operator}-operator-token"

    def secret_settings(self) -> dict[str, str]:
        """The setting that takes the path of each file in `secrets`, with the file's name."""
        return {f"{secret.replace('-', '_')}_file": secret for secret in self.secrets}


KEY_SERVER = ServiceSpec(
    name="keyserver",
    title="key server",
    module="fedperm_keyserver",
    audience="fedperm-keyserver",
    scope="secret-keys",
    port=8441,
    operator="key",
    secrets=("key-encryption-key",),
)
AGGREGATOR = ServiceSpec(
    name="aggregator",
    title="aggregator",
    module="fedperm_aggregator",
    audience="fedperm-aggregator",
    scope="participate",
    port=8100,
    operator="run",
)
CLIENT = ProgramSpec(name="client", title="client", module="fedperm_client")

SERVICES: dict[str, ServiceSpec] = {spec.name: spec for spec in (KEY_SERVER, AGGREGATOR)}
"""By name, in the order in which they are started and listed."""


def programs() -> tuple[ProgramSpec, ...]:
    """All services, and the client."""
    return (*SERVICES.values(), CLIENT)


def service_for(audience: str) -> ServiceSpec:
    """The service at which tokens for this audience are accepted; ValueError if there is none."""
    for service in SERVICES.values():
        if service.audience == audience:
            return service
    # the text may come from anybody: repeating it would let a lone surrogate crash the answer
    raise ValueError("no service has this audience")
