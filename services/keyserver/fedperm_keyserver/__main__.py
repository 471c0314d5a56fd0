"""`python -m fedperm_keyserver`: settings, parts, serve."""

import logging
import sys

from prometheus_client import CollectorRegistry

from fedperm.clock import SystemClock
from fedperm.database import Database
from fedperm.errors import FedPermError
from fedperm.logs import configure_logs
from fedperm.randomness import from_operating_system
from fedperm.settings import read_secret
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm.web.serving import serve
from fedperm_keyserver.app import Parts, build_app
from fedperm_keyserver.authority import Authority, establish
from fedperm_keyserver.settings import KeyServerSettings
from fedperm_keyserver.store.identity import IdentityStore
from fedperm_keyserver.store.opening import open_database, sqlite_in

log = logging.getLogger("fedperm_keyserver")

WRONG_START = 2


def main() -> int:
    try:
        settings = KeyServerSettings.from_environment()
        configure_logs(settings.log_level)
        run(settings)
    except FedPermError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return WRONG_START
    return 0


def run(settings: KeyServerSettings) -> None:
    """Until SIGTERM or SIGINT."""
    database = open_database(_url(settings))
    try:
        parts = _parts(settings, database)
        _announce(parts.authority)
        serve(build_app(parts), settings.serving())
    finally:
        database.close()


def _url(settings: KeyServerSettings) -> str:
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    return sqlite_in(settings.state_directory)


def _parts(settings: KeyServerSettings, database: Database) -> Parts:
    clock, randomness = SystemClock(), from_operating_system()
    authority = establish(
        IdentityStore(database),
        settings.read_key_encryption_key(),
        clock,
        randomness,
        insecure_for_tests=settings.insecure_for_tests,
    )
    return Parts(
        database=database,
        authority=authority,
        operator=OperatorCredential.of(read_secret(settings.operator_token_file)),
        enrolment_limit=RateLimit(settings.enrolment_burst, settings.enrolment_per_second, clock),
        access_limit=RateLimit(settings.access_burst, settings.access_per_second, clock),
        clock=clock,
        randomness=randomness,
        registry=CollectorRegistry(),
        access_token_seconds=settings.access_token_seconds,
        insecure_for_tests=settings.insecure_for_tests,
    )


def _announce(authority: Authority) -> None:
    try:
        authority.check_open()
    except FedPermError as error:
        log.warning("sealed: %s", error.message, extra={"hint": error.hint})
    else:
        log.info("open", extra={"fingerprint": authority.identity.fingerprint})


if __name__ == "__main__":
    sys.exit(main())
