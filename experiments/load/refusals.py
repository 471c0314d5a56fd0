"""Answers other than success, from the aggregator's metrics.

A refused request is no failure by itself: clients send it again. Many of them say that the server
has too much to do.
"""

from prometheus_client.parser import text_string_to_metric_families

from fedperm.wire.message import Message

REQUESTS = "fedperm_http_requests"
LEAST_REFUSAL = 400


class Refusal(Message):
    method: str
    route: str
    status: int
    count: int


def refusals_in(metrics: str) -> tuple[Refusal, ...]:
    """The most frequent first."""
    found = [
        Refusal(
            method=sample.labels["method"],
            route=sample.labels["route"],
            status=int(sample.labels["status"]),
            count=int(sample.value),
        )
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == f"{REQUESTS}_total" and int(sample.labels["status"]) >= LEAST_REFUSAL
    ]
    return tuple(sorted(found, key=lambda refusal: -refusal.count))
