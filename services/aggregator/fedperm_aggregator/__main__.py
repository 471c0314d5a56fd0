"""`python -m fedperm_aggregator`: settings from the environment, parts, serve."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fedperm.blobs.registry import open_store
from fedperm.blobs.store import BlobStore
from fedperm.clock import SystemClock
from fedperm.database import open_database
from fedperm.errors import SettingsError
from fedperm.randomness import from_operating_system
from fedperm.services import AGGREGATOR
from fedperm.state_folder import sole_user
from fedperm.web.server_settings import run_server
from fedperm.web.serving import serve
from fedperm_aggregator.app import Parts, build_app
from fedperm_aggregator.event_fanout import Watcher
from fedperm_aggregator.jobs.pool import WorkerSpec, open_pool
from fedperm_aggregator.migrations import SCHEMA
from fedperm_aggregator.settings import AggregatorSettings


def main() -> int:
    return run_server(AggregatorSettings, run)


def run(settings: AggregatorSettings) -> None:
    """Until SIGTERM or SIGINT. Leases and presence are one process's: a second is refused."""
    with (
        sole_user(settings.state_directory, AGGREGATOR.title),
        _blobs(settings) as blobs,
        _watchers(settings) as watchers,
    ):
        parts = Parts(
            settings,
            settings.operator(),
            open_database(settings.url, SCHEMA),
            blobs,
            open_pool(
                WorkerSpec(settings.workers_url, settings.processes, settings.silence_seconds)
            ),
            SystemClock(),
            from_operating_system(),
            watchers,
        )
        app = build_app(parts)
        serve(app, settings.serving(), app.state.services.notifier.close)


@contextmanager
def _blobs(settings: AggregatorSettings) -> Iterator[BlobStore]:
    blobs = open_store(settings.blob_store_url)
    if not (blobs.durable or settings.insecure_for_tests):
        raise SettingsError(
            "BLOBS_URL names a store that loses acknowledged uploads when the process ends",
            "use file:///folder, or leave it out",
        )
    with blobs.alone("aggregator"):
        yield blobs


@contextmanager
def _watchers(settings: AggregatorSettings) -> Iterator[Sequence[Watcher]]:
    """Traces are asked for by few: what they need is loaded then only."""
    if not settings.traces:
        yield ()
        return
    try:
        from fedperm_aggregator.traces import exporting  # noqa: PLC0415
    except ImportError:
        raise SettingsError(
            "TRACES is set, but OpenTelemetry is not installed",
            f"install {AGGREGATOR.distribution}[traces], or leave TRACES out",
        ) from None
    traces = exporting()
    try:
        yield (traces,)
    finally:
        traces.close()


if __name__ == "__main__":
    sys.exit(main())
