"""Prometheus metrics of an HTTP server and its process, in a registry of its own."""

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from starlette.types import Scope

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpMetrics:
    """Requests by route, not by path: names of runs and clients must not become labels. Nor must
    a method of the caller's invention: every label is memory for good."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "fedperm_http_requests",
            "Requests by method, route and status",
            ["method", "route", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "fedperm_http_request_seconds",
            "Time to answer a request, long polls included",
            ["method", "route"],
            registry=registry,
        )

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)
