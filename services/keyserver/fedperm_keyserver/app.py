"""The application, wired from parts: the only place that knows all of them."""

from dataclasses import dataclass
from random import Random

from fastapi import APIRouter, FastAPI
from prometheus_client import CollectorRegistry

from fedperm.clock import Clock
from fedperm.database import Database
from fedperm.services import KEY_SERVER
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm.web.service import build_service
from fedperm_keyserver.access import Access
from fedperm_keyserver.audit import Audit
from fedperm_keyserver.authority import Authority
from fedperm_keyserver.clients import Clients
from fedperm_keyserver.keys import Keys
from fedperm_keyserver.metrics import KeyServerMetrics
from fedperm_keyserver.releases import Releases
from fedperm_keyserver.routes.access import access_routes
from fedperm_keyserver.routes.audit import audit_routes
from fedperm_keyserver.routes.clients import client_routes
from fedperm_keyserver.routes.epochs import epoch_routes
from fedperm_keyserver.routes.guards import client_token, limited, operator_only
from fedperm_keyserver.routes.identity import identity_routes
from fedperm_keyserver.routes.keys import key_routes
from fedperm_keyserver.routes.releases import release_routes
from fedperm_keyserver.routes.tokens import token_routes
from fedperm_keyserver.stores.access import AccessStore
from fedperm_keyserver.stores.audit import AuditStore
from fedperm_keyserver.stores.clients import ClientStore
from fedperm_keyserver.stores.identity import IdentityStore
from fedperm_keyserver.stores.keys import KeyStore
from fedperm_keyserver.stores.tokens import TokenStore
from fedperm_keyserver.tokens import Tokens


@dataclass(frozen=True)
class Parts:
    """What a key server is made of; tests hand in a clock of their own."""

    database: Database
    authority: Authority
    operator: OperatorCredential
    enrolment_limit: RateLimit
    access_limit: RateLimit
    clock: Clock
    randomness: Random
    registry: CollectorRegistry
    access_token_seconds: int = 300
    insecure_for_tests: bool = False


def build_app(parts: Parts) -> FastAPI:
    app = build_service(
        KEY_SERVER,
        ready=lambda: _check_ready(parts),
        registry=parts.registry,
    )
    for router in _routers(parts):
        app.include_router(router)
    return app


def _check_ready(parts: Parts) -> None:
    parts.authority.check_open()
    IdentityStore(parts.database).check()


def _routers(parts: Parts) -> tuple[APIRouter, ...]:
    authority, clock, randomness = parts.authority, parts.clock, parts.randomness
    key_store, client_store = KeyStore(parts.database), ClientStore(parts.database)
    access_store = AccessStore(parts.database)
    metrics = KeyServerMetrics(parts.registry)
    keys = Keys(key_store, authority, clock, randomness, parts.insecure_for_tests)
    tokens = Tokens(TokenStore(parts.database), authority, clock, randomness)
    clients = Clients(client_store, keys, authority, clock, metrics)
    access = Access(
        access_store,
        client_store,
        authority,
        clock,
        randomness,
        parts.access_token_seconds,
        metrics,
    )
    releases = Releases(access_store, client_store, key_store, authority, clock, metrics)
    operator = operator_only(parts.operator)
    return (
        identity_routes(authority),
        key_routes(keys, operator),
        epoch_routes(keys, operator),
        token_routes(tokens, operator),
        client_routes(clients, operator, limited(parts.enrolment_limit)),
        access_routes(access, limited(parts.access_limit)),
        release_routes(releases, client_token(authority, clock)),
        audit_routes(Audit(AuditStore(parts.database)), operator),
    )
