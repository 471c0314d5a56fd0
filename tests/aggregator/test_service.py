"""The aggregator as a service: settings, health, metrics, and one user per folder."""

import asyncio
import os
from pathlib import Path

import pytest

from fedperm.errors import SettingsError
from fedperm.services import AGGREGATOR
from fedperm_aggregator.__main__ import main
from fedperm_aggregator.settings import AggregatorSettings
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client

PREFIX = AGGREGATOR.env_prefix


def test_settings_come_from_the_environment(monkeypatch, tmp_path: Path):
    for name, value in {
        "OPERATOR_TOKEN_FILE": str(tmp_path / "token"),
        "STATE_DIRECTORY": str(tmp_path / "state"),
        "PORT": "0",
        "ONLINE_SECONDS": "5.5",
        "INSECURE_FOR_TESTS": "true",
    }.items():
        monkeypatch.setenv(PREFIX + name, value)
    settings = AggregatorSettings.from_environment()
    assert (settings.port, settings.online_seconds, settings.insecure_for_tests) == (0, 5.5, True)
    assert settings.url == f"sqlite:///{tmp_path}/state/aggregator.db"
    assert settings.processes >= 1
    monkeypatch.setenv(PREFIX + "DATABASE_URL", "sqlite:////elsewhere.db")
    assert AggregatorSettings.from_environment().url == "sqlite:////elsewhere.db"
    (tmp_path / "url").write_text("sqlite:////in-a-file.db\n")
    monkeypatch.setenv(PREFIX + "DATABASE_URL_FILE", str(tmp_path / "url"))
    with pytest.raises(SettingsError, match="not both"):
        _ = AggregatorSettings.from_environment().url
    monkeypatch.delenv(PREFIX + "DATABASE_URL")
    assert AggregatorSettings.from_environment().url == "sqlite:////in-a-file.db"
    monkeypatch.setenv(PREFIX + "ONLINE_SECOND", "5")
    with pytest.raises(SettingsError, match="ONLINE_SECOND"):
        AggregatorSettings.from_environment()


def test_impossible_settings_are_named(monkeypatch, tmp_path: Path):
    monkeypatch.setenv(PREFIX + "STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv(PREFIX + "LEASE_SECONDS", "0")
    with pytest.raises(SettingsError, match=r"LEASE_SECONDS.*|OPERATOR_TOKEN_FILE") as caught:
        AggregatorSettings.from_environment()
    assert "OPERATOR_TOKEN_FILE" in caught.value.message
    assert "LEASE_SECONDS" in caught.value.message


def test_a_program_without_settings_says_what_is_missing(monkeypatch, capsys):
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    assert main() == 2
    assert "FEDPERM_AGGREGATOR_STATE_DIRECTORY" in capsys.readouterr().err


@pytest.mark.anyio
async def test_health_and_version(bench: Bench):
    http = bench.aggregator.http
    assert (await http.get("/livez")).json() == {"status": "ok"}
    assert (await http.get("/readyz")).json() == {"status": "ok"}
    assert (await http.get("/version")).json()["service"] == "aggregator"


@pytest.mark.anyio
async def test_the_description_names_the_refusals(bench: Bench):
    paths = (await bench.aggregator.http.get("/openapi.json")).json()["paths"]
    own = [op for path, ops in paths.items() if path.startswith("/v1") for op in ops.values()]
    assert own
    for operation in own:
        assert operation["summary"]
        assert {"401", "403", "404", "409", "413", "422", "503"} <= operation["responses"].keys()


@pytest.mark.anyio
async def test_it_is_not_ready_when_the_database_does_not_answer(bench: Bench):
    database = bench.aggregator.settings.state_directory / "aggregator.db"
    bench.aggregator.database.close()
    database.unlink()
    database.mkdir()
    response = await bench.aggregator.http.get("/readyz")
    assert response.status_code == 503
    assert response.json()["type"] == "urn:fedperm:problem:busy"
    database.rmdir()


@pytest.mark.anyio
async def test_metrics_count_what_happened(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    text = (await opened.aggregator.http.get("/metrics")).text
    size = 3 * len(opened.sent[1, "ada"].body)
    for line in (
        'fedperm_submissions_total{kind="update",state="stored"} 3.0',
        'fedperm_submissions_total{kind="update",state="valid"} 3.0',
        'fedperm_submissions_total{kind="update",state="included"} 3.0',
        'fedperm_rounds_total{state="opened"} 1.0',
        'fedperm_rounds_total{state="sealed"} 1.0',
        'fedperm_rounds_total{state="published"} 1.0',
        'fedperm_rounds_total{state="aborted"} 0.0',
        'fedperm_round_phase_seconds_count{phase="open"} 1.0',
        'fedperm_round_phase_seconds_count{phase="fold"} 1.0',
        f"fedperm_upload_bytes_total {size:.1f}",
        "fedperm_participants_online 3.0",
    ):
        assert line in text.splitlines()
    assert "ada" not in text
    assert opened.run not in text


@pytest.mark.anyio
async def test_the_lifespan_runs_the_loop_and_ends_it(bench: Bench, clients: list[Client]):
    """Nobody ticks here by hand."""
    app = bench.aggregator.app
    async with app.router.lifespan_context(app):
        await bench.create(rounds={"count": 1})
        await bench.join(*clients)
        while not await bench.asked(clients, settled=0):
            await asyncio.sleep(0.01)
        await bench.contribute(1, *clients)
        while (await bench.api.run(bench.run, OPERATOR)).state != "completed":
            await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_a_loop_in_trouble_says_so_and_recovers(bench: Bench):
    """The database is gone for a while."""
    app = bench.aggregator.app
    database = bench.aggregator.settings.state_directory / "aggregator.db"
    hidden = database.with_suffix(".hidden")
    async with app.router.lifespan_context(app):
        await until_ready(bench, 200)
        database.rename(hidden)
        database.mkdir()
        await until_ready(bench, 503)
        database.rmdir()
        hidden.rename(database)
        await until_ready(bench, 200)


async def until_ready(bench: Bench, status: int) -> None:
    """Connections that are open would not notice: they are closed first."""
    async with asyncio.timeout(20):
        while True:
            bench.aggregator.database.close()
            if (await bench.aggregator.http.get("/readyz")).status_code == status:
                return
            await asyncio.sleep(0.01)
