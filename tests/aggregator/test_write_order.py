"""What a crash may take is decided by the order of writing: data, name, folder, row, answer.

No crash of a process shows it, since the system keeps what a dead process wrote; a power cut would.
So these tests read the order itself, as the operating system and the database see it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from tests.aggregator.bench import Bench
from tests.aggregator.parties import MODEL, OPERATOR, Client, document_of
from tests.aggregator.system_effects import (
    Effect,
    answered,
    answers_observed,
    commits_observed,
    committed,
    files_observed,
    removed,
    renamed,
    synced,
)

pytestmark = pytest.mark.anyio


@contextmanager
def observed(bench: Bench) -> Iterator[list[Effect]]:
    seen: list[Effect] = []
    aggregator = bench.aggregator
    transport = httpx.ASGITransport(app=answers_observed(aggregator.app, seen))
    http = http_client("http://aggregator", transport=transport)
    aggregator.api = AggregatorApi(Connection(http, Patience(0.0)))
    with files_observed(seen), commits_observed(aggregator.database.engine, seen):
        yield seen


def run_folder(bench: Bench) -> Path:
    return bench.aggregator.settings.state_directory / "runs" / bench.run


def upload_of(bench: Bench, client: Client) -> Path:
    sha256 = hashlib.sha256(bench.sent[1, client.name].body).hexdigest()
    name = f"{client.name}.{sha256}.safetensors"
    return run_folder(bench) / "rounds" / "1" / "uploads" / name


async def test_an_upload_is_durable_then_counted_then_acknowledged(
    opened: Bench, clients: list[Client]
):
    ada, ben = clients[:2]
    await opened.contribute(1, ada)  # the folder is there from here on
    with observed(opened) as seen:
        await opened.contribute(1, ben)
    received, path = seen[0].where, upload_of(opened, ben)
    assert seen == [
        synced(received, len(opened.sent[1, "ben"].body)),
        renamed(received, path),
        synced(path.parent),
        committed("events", "jobs", "submissions"),
        answered(201),
    ]


async def test_folders_are_durable_before_an_upload_in_them_is_counted(
    opened: Bench, clients: list[Client]
):
    with observed(opened) as seen:
        await opened.contribute(1, clients[0])
    made = [effect.where for effect in seen if effect.what == "mkdir"]
    rounds = run_folder(opened) / "rounds"
    assert made == [rounds, rounds / "1", rounds / "1" / "uploads"]
    counted = seen.index(committed("events", "jobs", "submissions"))
    for folder in made:
        assert seen.index(Effect("mkdir", folder)) < seen.index(synced(folder.parent)) < counted


async def test_the_same_bytes_again_are_acknowledged_without_a_row(
    opened: Bench, clients: list[Client]
):
    """And their second file takes the place of the first: it is never away."""
    await opened.contribute(1, clients[0])
    with observed(opened) as seen:
        await opened.upload(clients[0], 1, opened.sent[1, "ada"])
    received, path = seen[0].where, upload_of(opened, clients[0])
    assert seen[1:] == [renamed(received, path), synced(path.parent), answered(200)]


async def test_the_initial_model_is_durable_then_there(bench: Bench):
    document = document_of(bench.server)
    await bench.api.create_run(document, OPERATOR)
    with observed(bench) as seen:
        await bench.api.put_initial_model(bench.run, MODEL, OPERATOR)
    received, path = seen[0].where, run_folder(bench) / "initial-model.safetensors"
    assert [effect for effect in seen if effect.what != "mkdir"] == [
        synced(received, len(MODEL)),
        synced(path.parents[2]),  # the new folder of all runs
        synced(path.parents[1]),  # the run's new folder
        renamed(received, path),
        synced(path.parent),
        committed("events", "runs"),
        answered(201),
    ]


async def test_an_aggregate_is_durable_then_published_then_the_uploads_go(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    with observed(opened) as seen:
        await opened.aggregator.tick()
    reference = (await opened.api.outcome(opened.run, 1, OPERATOR)).aggregate
    assert reference is not None
    path = run_folder(opened) / "rounds" / "1" / f"aggregate.{reference.sha256}.safetensors"
    unfinished = path.with_name(path.name + ".new")
    kept, scrubbed = committed("jobs", "rounds"), committed("rounds")
    published = committed("events", "rounds", "submissions")
    of_files = {"fsync", "rename", "unlink"}
    concerned = [e for e in seen if e in {kept, published, scrubbed} or e.what in of_files]
    assert concerned[:5] == [
        synced(unfinished, reference.size),
        renamed(unfinished, path),
        synced(path.parent),
        kept,
        published,
    ]
    assert set(concerned[5:8]) == {removed(upload_of(opened, client)) for client in clients}
    assert concerned[8:] == [synced(path.parent / "uploads"), scrubbed]
