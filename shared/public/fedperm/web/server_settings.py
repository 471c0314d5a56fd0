"""What both servers are told in the same way, and how their programs begin and end."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import Field, SecretStr

from fedperm.clock import SystemClock
from fedperm.crash_points import warn_if_compiled_in
from fedperm.database import sqlite_url
from fedperm.engines import check_is_private
from fedperm.errors import FedPermError, SettingsError
from fedperm.logs import LogLevel, configure_logs
from fedperm.plain_text import visible
from fedperm.services import ServiceSpec
from fedperm.settings import Settings, read_secret
from fedperm.web.connections import ConnectionLimits
from fedperm.web.credentials import OperatorCredential
from fedperm.web.log_brake import brake_logs
from fedperm.web.proxies import TrustedProxies
from fedperm.web.serving import DRAIN_SECONDS, Serving

WRONG_START = 2

Port = Annotated[int, Field(ge=0, lt=1 << 16)]


class ServerSettings(Settings):
    """Everything that must survive a restart lies in `state_directory`, but for the database if it
    has a URL of its own."""

    spec: ClassVar[ServiceSpec]

    host: str = "127.0.0.1"
    port: Port
    address_file: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    drain_seconds: Annotated[int, Field(ge=0)] = DRAIN_SECONDS
    """Requests under way at SIGTERM may take so long to finish."""
    most_connections: Annotated[int, Field(ge=1)] = ConnectionLimits.most
    """Held at once; more are told to try again."""
    most_strangers: Annotated[int, Field(ge=1)] = ConnectionLimits.most_strangers
    """Connections from one address on which nobody has shown a valid credential yet."""
    unread_seconds: Annotated[float, Field(gt=0)] = ConnectionLimits.unread_seconds
    """Whoever takes nothing of an answer for so long, or next to nothing, is hung up on."""
    call_burst: Annotated[int, Field(ge=1)] = 500
    """Requests of one client, of every kind, at once; then `calls_per_second`. A round takes about
    ten of the aggregator, and one of the key server."""
    calls_per_second: Annotated[float, Field(gt=0)] = 50.0
    trusted_proxies: str = ""
    """Addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    log_level: LogLevel = "INFO"

    operator_token_file: Path
    state_directory: Path
    database_url: SecretStr | None = None
    """May hold a password."""
    database_url_file: Path | None = None
    database_without_tls: bool = False
    """Admits a database on another machine without a certificate that is checked."""
    insecure_for_tests: bool = False
    """Admits short keys and no norm bound, to those who say the same."""

    def serving(self) -> Serving:
        return Serving(
            self.host,
            self.port,
            self.tls_certificate,
            self.tls_key,
            self.address_file,
            drain_seconds=self.drain_seconds,
            limits=ConnectionLimits(
                self.most_connections, self.most_strangers, unread_seconds=self.unread_seconds
            ),
            proxies=TrustedProxies.named(self.trusted_proxies),
        )

    def operator(self) -> OperatorCredential:
        return OperatorCredential.of(read_secret(self.operator_token_file))

    @property
    def url(self) -> str:
        """Of the database: a file in the state directory if nothing else is said."""
        url = self._given_url()
        if not self.database_without_tls:
            check_is_private(url, f"{self.spec.env_prefix}DATABASE_WITHOUT_TLS")
        return url

    def _given_url(self) -> str:
        if self.database_url and self.database_url_file:
            raise SettingsError(
                "the database URL is given twice", "set the file or the variable, not both"
            )
        if self.database_url_file:
            return read_secret(self.database_url_file)
        if self.database_url:
            return self.database_url.get_secret_value()
        return sqlite_url(self.state_directory / f"{self.spec.name}.db")


AnySettings = TypeVar("AnySettings", bound=ServerSettings)


def run_server(settings: type[AnySettings], run: Callable[[AnySettings], None]) -> int:
    """A server's whole life, as an exit code; `run` ends at SIGTERM or SIGINT."""
    try:
        chosen = settings.from_environment()
        configure_logs(chosen.log_level)
        brake_logs(SystemClock())
        warn_if_compiled_in()
        run(chosen)
    except FedPermError as error:
        sys.stderr.write(visible(f"{error.message}\n{error.hint}\n"))
        return WRONG_START
    return 0
