"""The only place where things are wired."""

import re
from dataclasses import dataclass
from random import Random

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from fedperm.clock import Clock
from fedperm.database import Database
from fedperm.services import KEY_SERVER
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import CREDENTIAL_BODY, BodyLimits
from fedperm.web.service import build_service
from fedperm_keyserver.access import Access
from fedperm_keyserver.alarm import Alarm
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.clients import Clients
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.routes import clients, keys
from fedperm_keyserver.routes.alarm import install_alarm
from fedperm_keyserver.services import Services
from fedperm_keyserver.stores import Stores, open_stores
from fedperm_keyserver.tokens import Tokens

_BODY_LIMITS = BodyLimits(
    lengths={re.compile("/v1/access-tokens|/v1/keys/[^/]+/clients"): CREDENTIAL_BODY}
)


@dataclass(frozen=True)
class Parts:
    """What a key server is made of; tests hand in a clock of their own."""

    database: Database
    authority: Authority
    operator: OperatorCredential
    enrolment_limit: RateLimit
    access_limit: RateLimit
    grant_limit: RateLimit
    call_limit: RateLimit
    release_limit: RateLimit
    clock: Clock
    randomness: Random
    registry: CollectorRegistry
    access_token_seconds: int = 300
    insecure_for_tests: bool = False


def build_app(parts: Parts) -> FastAPI:
    stores = open_stores(parts.database)

    def ready() -> None:
        parts.authority.check_open()
        stores.audit.check()

    app = build_service(KEY_SERVER, ready=ready, registry=parts.registry, limits=_BODY_LIMITS)
    metrics = KeyServerMetrics(parts.registry)
    app.state.services = _services(parts, stores, metrics)
    install_alarm(app, Alarm(stores.audit, parts.clock, metrics))
    for routes in (keys, clients):
        app.include_router(routes.router)
    return app


def _services(parts: Parts, stores: Stores, metrics: KeyServerMetrics) -> Services:
    authority, clock, randomness = parts.authority, parts.clock, parts.randomness
    of_keys = Keys(stores, authority, clock, randomness, parts.insecure_for_tests)
    return Services(
        authority=authority,
        operator=parts.operator,
        enrolment_limit=parts.enrolment_limit,
        access_limit=parts.access_limit,
        grant_limit=parts.grant_limit,
        call_limit=parts.call_limit,
        release_limit=parts.release_limit,
        clock=clock,
        keys=of_keys,
        tokens=Tokens(stores, authority, clock, randomness),
        clients=Clients(stores, of_keys, authority, clock, metrics),
        access=Access(stores, authority, clock, randomness, parts.access_token_seconds, metrics),
        audit=stores.audit,
    )
