"""python -m fedperm_aggregator: settings from the environment, then serve until told to stop."""

import sys

from fedperm.clock import SystemClock
from fedperm.database import Database
from fedperm.errors import FedPermError
from fedperm.logs import configure_logs
from fedperm.randomness import from_operating_system
from fedperm.settings import read_secret
from fedperm.web.credentials import OperatorCredential
from fedperm.web.serving import Serving, serve
from fedperm_aggregator.app import Parts, build_app
from fedperm_aggregator.pool import process_pool
from fedperm_aggregator.settings import AggregatorSettings
from fedperm_aggregator.state_lock import sole_user

WRONG_SETTINGS = 2


def main() -> int:
    try:
        settings = AggregatorSettings.from_environment()
        configure_logs(settings.log_level)
        with sole_user(settings.state_directory):
            run(settings)
    except FedPermError as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_SETTINGS
    return 0


def run(settings: AggregatorSettings) -> None:
    serving = Serving(
        settings.host,
        settings.port,
        settings.tls_certificate,
        settings.tls_key,
        settings.address_file,
    )
    parts = Parts(
        settings,
        OperatorCredential.of(read_secret(settings.operator_token_file)),
        Database(settings.url),
        process_pool(settings.processes),
        SystemClock(),
        from_operating_system(),
    )
    app = build_app(parts)
    serve(app, serving, app.state.services.changes.close)


if __name__ == "__main__":
    sys.exit(main())
