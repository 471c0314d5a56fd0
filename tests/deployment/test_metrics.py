"""docs/metrics.md lists what the servers expose, all of it and nothing else, by the names and units
that Prometheus asks for."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.aggregator.bench import Aggregator, quick_folder
from tests.deployment.exposition import Exposition, exposition
from tests.deployment.promql import mistakes
from tests.keyserver.server import MovingClock, Server

DOCUMENT = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
UNITS = ("seconds", "bytes")
NOT_OURS = "process_"
BEGINNING = "_created"


@dataclass(frozen=True)
class Described:
    name: str
    kind: str
    server: str
    labels: frozenset[str]


@pytest.fixture(scope="module")
def families() -> list[tuple[str, Metric]]:
    return asyncio.run(_families())


async def _families() -> list[tuple[str, Metric]]:
    found: list[tuple[str, Metric]] = []
    with quick_folder() as folder:
        clock = MovingClock()
        for name, server in (
            ("key server", Server(folder, clock)),
            ("aggregator", Aggregator(folder, clock)),
        ):
            await server.http.get("/readyz")  # a request, so that there are metrics of requests
            text = (await server.http.get("/metrics")).text
            found += [(name, family) for family in text_string_to_metric_families(text)]
            server.close()
    return [
        (server, family)
        for server, family in found
        if not family.name.startswith(NOT_OURS) and not family.name.endswith(BEGINNING)
    ]


def exposed(families: list[tuple[str, Metric]]) -> set[Described]:
    servers: dict[str, set[str]] = {}
    for server, family in families:
        servers.setdefault(family.name, set()).add(server)
    return {
        Described(
            name=f"{family.name}_total" if family.type == "counter" else family.name,
            kind=family.type,
            server="both" if len(servers[family.name]) == 2 else server,
            labels=frozenset(label for s in family.samples for label in s.labels) - {"le"},
        )
        for server, family in families
    }


def documented() -> list[Described]:
    rows = re.findall(
        r"^\| `(fedperm_\w+)` \| (\w+) \| ([\w ]+) \| ([^|]*)\| [^|]+ \|$", DOCUMENT, re.MULTILINE
    )
    return [
        Described(name, kind, server, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, server, labels in rows
    ]


def test_the_document_lists_what_is_exposed(families):
    rows = documented()
    assert len(rows) == len(set(rows))
    assert set(rows) == exposed(families)


def test_names_end_in_their_unit_and_counters_in_total(families):
    for one in exposed(families):
        assert re.fullmatch(r"fedperm(_[a-z]+)+", one.name)
        assert one.name.endswith("_total") == (one.kind == "counter")
        assert one.kind != "histogram" or one.name.endswith(UNITS)
        assert not re.search(r"milli|micro|_ms\b|kilo|mega|minutes|hours|percent", one.name)


def test_every_metric_says_what_it_is(families):
    for _, family in families:
        assert len(family.documentation) > 10, family.name


def test_no_label_is_a_name_of_somebody(families):
    labels = set().union(*(one.labels for one in exposed(families)))
    known = {
        "audience",
        "kind",
        "method",
        "phase",
        "result",
        "route",
        "share",
        "state",
        "status",
        "table",
    }
    assert labels == known


def test_the_expressions_of_the_document_ask_for_what_there_is():
    found: Exposition = asyncio.run(exposition())
    (block,) = re.findall(r"```\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(block.splitlines()) == 3
    assert [mistakes(line, found) for line in block.splitlines()] == [[]] * 3
