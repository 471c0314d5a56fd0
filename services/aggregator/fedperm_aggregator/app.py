"""The only place where things are wired."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from fedperm.blobs.store import BlobStore
from fedperm.clock import Clock
from fedperm.dashboard.dashboard import Dashboard
from fedperm.dashboard.entrance import by_token
from fedperm.dashboard.reading import without_a_key
from fedperm.dashboard.routes import add_dashboard
from fedperm.database import Database
from fedperm.run_document import LONGEST_DOCUMENT
from fedperm.run_notifier import RunNotifier
from fedperm.services import AGGREGATOR
from fedperm.submissions import SUBMISSIONS
from fedperm.web.credentials import OperatorCredential
from fedperm.web.documentation import problems
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import CREDENTIAL_BODY, BodyLimits
from fedperm.web.service import build_service
from fedperm_aggregator.authorization import Authorization
from fedperm_aggregator.background import BackgroundLoop
from fedperm_aggregator.checkpoints import Checkpoints
from fedperm_aggregator.dashboard_source import OwnRuns
from fedperm_aggregator.event_fanout import EventFanout, Watcher
from fedperm_aggregator.event_stream import EventStream
from fedperm_aggregator.housekeeping import Housekeeping
from fedperm_aggregator.jobs.check import CheckHandler
from fedperm_aggregator.jobs.fold import FoldHandler
from fedperm_aggregator.jobs.pool import WorkerPool
from fedperm_aggregator.jobs.runner import JobHandler, JobRunner
from fedperm_aggregator.lane import Lane
from fedperm_aggregator.long_poll import LongPolls, Lookouts
from fedperm_aggregator.metrics import AggregatorMetrics
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Attendance, Presence
from fedperm_aggregator.records import JobKind
from fedperm_aggregator.rounds.results import Rounds
from fedperm_aggregator.rounds.scheduler import Scheduler
from fedperm_aggregator.routes import (
    checkpoints,
    events,
    participants,
    rounds,
    runs,
    submissions,
)
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.runs import Runs
from fedperm_aggregator.services import Services
from fedperm_aggregator.settings import AggregatorSettings
from fedperm_aggregator.stores import Stores, open_stores
from fedperm_aggregator.submissions.intake import Intake

THREADS = 8
"""For files and the database; the framework gets as many for its handlers. Transactions wait for
each other anyway, and every thread takes memory of its own."""


@dataclass(frozen=True)
class Parts:
    """What a test replaces: time, chance, workers, storage. `watchers` are told of all events."""

    settings: AggregatorSettings
    operator: OperatorCredential
    database: Database
    blobs: BlobStore
    pool: WorkerPool
    clock: Clock
    randomness: Random
    watchers: Sequence[Watcher] = ()


@dataclass(frozen=True)
class _Common:
    """What almost everybody needs."""

    stores: Stores
    documents: RunDocuments
    blobs: BlobStore
    presence: Presence
    notifier: RunNotifier


def build_app(parts: Parts) -> FastAPI:
    """The background loop runs in the lifespan only."""
    registry = CollectorRegistry()
    common = _common(parts)
    services = _services(parts, common, registry)

    def ready() -> None:
        common.stores.runs.ping()
        services.background.check()

    app = build_service(
        AGGREGATOR,
        ready=ready,
        registry=registry,
        limits=_body_limits(),
        lifespan=lambda _app: _running(services.background, parts.settings.tick_seconds),
    )
    app.state.services = services
    routers = [routes.router for routes in (runs, participants, rounds, checkpoints, events)]
    for router in (*routers, *map(submissions.router_of, SUBMISSIONS.values())):
        app.include_router(router, responses=problems(401, 403, 404, 409))
    if parts.settings.dashboard:
        add_dashboard(app, services.dashboard)
    return app


def _body_limits() -> BodyLimits:
    """Of bodies that are long: those that are no JSON, and documents, which operators send. And of
    the login, whose body is the credential."""
    kinds = (kind.path for kind in SUBMISSIONS.values())
    paths = "|".join(map(re.escape, (*kinds, checkpoints.SEALED)))
    return BodyLimits(
        bulk=re.compile(rf"/v1/runs/[^/]+/(initial-model|rounds/[^/]+/({paths})/[^/]+)"),
        lengths={
            re.compile("/v1/runs/[^/]+"): LONGEST_DOCUMENT,
            re.compile("/dashboard/login"): CREDENTIAL_BODY,
        },
    )


@asynccontextmanager
async def _running(background: BackgroundLoop, tick_seconds: float) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, AGGREGATOR.name))
    current_default_thread_limiter().total_tokens = THREADS
    await asyncio.to_thread(background.start)
    running = asyncio.create_task(background.run(tick_seconds))
    try:
        yield
    finally:
        background.leave_off()
        await running
        await asyncio.to_thread(background.stop)


def _common(parts: Parts) -> _Common:
    stores = open_stores(parts.database)
    presence = Presence(parts.settings.online_seconds)
    return _Common(stores, RunDocuments(stores), parts.blobs, presence, RunNotifier())


def _services(parts: Parts, common: _Common, registry: CollectorRegistry) -> Services:
    c, clock = common, parts.clock
    who = Participants(c.stores, c.documents, c.presence, clock)
    of_runs = _runs(parts, c)
    of_rounds = Rounds(c.stores, c.documents, c.blobs, who, c.presence, clock)
    return Services(
        authorization=Authorization(parts.operator, c.documents, clock, _calls(parts)),
        runs=of_runs,
        participants=who,
        polls=_polls(parts, c, who),
        intake=Intake(
            c.stores, c.documents, c.blobs, c.presence, clock, parts.settings.body_idle_seconds
        ),
        rounds=of_rounds,
        checkpoints=Checkpoints(
            c.stores, c.documents, c.blobs, who, parts.settings.body_idle_seconds
        ),
        events=EventStream(c.stores, c.notifier),
        background=_background(parts, c, registry),
        lane=Lane(THREADS // 2),
        notifier=c.notifier,
        dashboard=_dashboard(parts, c, OwnRuns(c.stores, c.documents, of_runs, of_rounds, who)),
    )


def _calls(parts: Parts) -> RateLimit:
    return RateLimit(parts.settings.call_burst, parts.settings.calls_per_second, parts.clock)


def _dashboard(parts: Parts, common: _Common, source: OwnRuns) -> Dashboard:
    return Dashboard.of(
        source,
        without_a_key,
        by_token(parts.operator),
        common.notifier,
        parts.clock,
        parts.randomness,
        parts.settings.session_seconds,
    )


def _runs(parts: Parts, common: _Common) -> Runs:
    return Runs(
        common.stores,
        common.documents,
        common.blobs,
        parts.clock,
        idle_seconds=parts.settings.body_idle_seconds,
        insecure_for_tests=parts.settings.insecure_for_tests,
    )


def _polls(parts: Parts, common: _Common, who: Participants) -> LongPolls:
    return LongPolls(
        Lookouts(common.stores, common.documents, common.notifier),
        who,
        common.presence,
        common.notifier,
        parts.clock,
        longest_wait_seconds=parts.settings.longest_wait_seconds,
        most_waiting=parts.settings.most_waiting,
    )


def _background(parts: Parts, common: _Common, registry: CollectorRegistry) -> BackgroundLoop:
    c, clock, randomness = common, parts.clock, parts.randomness
    metrics = AggregatorMetrics(registry, lambda: c.presence.online(clock.now()))
    scheduler = Scheduler(c.stores, c.documents, c.presence, clock, randomness)
    return BackgroundLoop(
        scheduler,
        _job_runner(parts, common, scheduler),
        Attendance(c.stores, c.presence, clock),
        Housekeeping(c.stores, c.documents, c.blobs),
        EventFanout(c.stores.events, metrics, parts.watchers),
        c.notifier,
    )


def _job_runner(parts: Parts, common: _Common, scheduler: Scheduler) -> JobRunner:
    c, pool, clock, randomness = common, parts.pool, parts.clock, parts.randomness
    handlers: dict[JobKind, JobHandler] = {
        JobKind.CHECK: CheckHandler(c.stores, c.documents, c.blobs, clock),
        JobKind.FOLD: FoldHandler(
            c.stores, c.documents, c.blobs, clock, randomness, scheduler.step
        ),
    }
    return JobRunner(c.stores.jobs, handlers, pool, clock, randomness, parts.settings.lease_seconds)
