"""What Prometheus can know of both servers: read off real ones, in this process."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from fedperm.services import SERVICES
from tests.aggregator.bench import Aggregator, quick_folder
from tests.keyserver.server import MovingClock, Server

ADDED = {
    "job": set(SERVICES),
    "instance": {f"{service.name}:{service.port}" for service in SERVICES.values()},
}
"""Labels that Prometheus gives to whatever it scrapes."""

OWN = {
    "up": {},
    "ALERTS": {"alertname": set(), "alertstate": {"pending", "firing"}, "severity": set()},
}
"""Series of Prometheus's own making."""

Values = Mapping[str, set[str]]


@dataclass(frozen=True)
class Exposition:
    """Labels and their values, by the names of series."""

    series: Mapping[str, Values]


async def exposition() -> Exposition:
    series: dict[str, dict[str, set[str]]] = {
        name: {**{k: set(v) for k, v in ADDED.items()}, **labels} for name, labels in OWN.items()
    }
    with quick_folder() as folder:
        clock = MovingClock()
        for server in (Server(folder, clock), Aggregator(folder, clock)):
            await _read(server.http, series)
            _complete(series, server.app)
            server.close()
    return Exposition(series)


async def _read(http: httpx.AsyncClient, series: dict[str, dict[str, set[str]]]) -> None:
    await http.get("/readyz")  # a request, so that there are metrics of requests
    for family in text_string_to_metric_families((await http.get("/metrics")).text):
        for sample in family.samples:
            known = series.setdefault(sample.name, {k: set(v) for k, v in ADDED.items()})
            for label, value in sample.labels.items():
                known.setdefault(label, set()).add(value)


def _complete(series: dict[str, dict[str, set[str]]], app: FastAPI) -> None:
    """Routes and statuses show up when they are asked for; here are all that could be."""
    for labels in series.values():
        if "route" in labels:
            labels["route"] |= set(app.openapi()["paths"])
        if "status" in labels:
            labels["status"] |= {str(status) for status in range(200, 600)}
