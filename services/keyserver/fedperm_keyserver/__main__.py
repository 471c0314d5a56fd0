"""`python -m fedperm_keyserver`: settings, parts, serve."""

import logging
import sys

from prometheus_client import CollectorRegistry

from fedperm.clock import SystemClock
from fedperm.database import Database, open_database
from fedperm.errors import FedPermError, TamperedError
from fedperm.randomness import from_operating_system
from fedperm.services import KEY_SERVER
from fedperm.state_folder import sole_user
from fedperm.web.rate_limit import RateLimit
from fedperm.web.server_settings import run_server
from fedperm.web.serving import serve
from fedperm_keyserver.app import Parts, build_app
from fedperm_keyserver.authority import Authority, establish
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.settings import KeyServerSettings
from fedperm_keyserver.stores.keys import IdentityStore

log = logging.getLogger(KEY_SERVER.module)


def main() -> int:
    return run_server(KeyServerSettings, run)


def run(settings: KeyServerSettings) -> None:
    """Until SIGTERM or SIGINT."""
    with sole_user(settings.state_directory, KEY_SERVER.title):
        database = open_database(settings.url, SCHEMA)
        try:
            parts = _parts(settings, database)
            _announce(parts.authority)
            serve(build_app(parts), settings.serving())
        finally:
            database.close()


def _parts(settings: KeyServerSettings, database: Database) -> Parts:
    clock, randomness = SystemClock(), from_operating_system()
    authority = establish(
        IdentityStore(database), settings.read_key_encryption_key(), clock, randomness
    )
    return Parts(
        database=database,
        authority=authority,
        operator=settings.operator(),
        enrolment_limit=RateLimit(settings.enrolment_burst, settings.enrolment_per_second, clock),
        access_limit=RateLimit(settings.access_burst, settings.access_per_second, clock),
        grant_limit=RateLimit(settings.grant_burst, settings.grants_per_second, clock),
        call_limit=RateLimit(settings.call_burst, settings.calls_per_second, clock),
        release_limit=RateLimit(settings.release_burst, settings.releases_per_second, clock),
        clock=clock,
        randomness=randomness,
        registry=CollectorRegistry(),
        access_token_seconds=settings.access_token_seconds,
        insecure_for_tests=settings.insecure_for_tests,
    )


def _announce(authority: Authority) -> None:
    try:
        authority.check_open()
    except TamperedError as error:
        details = {"table": error.table, "row": error.row, "why": error.why}
        log.error("closed: %s", error.message, extra=details)  # noqa: TRY400 (no traceback)
    except FedPermError as error:
        log.warning("sealed: %s", error.message, extra={"hint": error.hint})
    else:
        log.info("open", extra={"fingerprint": authority.identity.fingerprint})


if __name__ == "__main__":
    sys.exit(main())
