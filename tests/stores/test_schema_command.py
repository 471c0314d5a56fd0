"""`python -m fedperm_….schema`: shows and moves versions, beside a server that is stopped."""

import logging
import runpy
import sys

import pytest
from sqlalchemy import inspect

from fedperm.database import open_database, sqlite_url
from fedperm.schema_command import run_schema_command
from fedperm.services import AGGREGATOR, KEY_SERVER, SERVICES
from fedperm.state_folder import sole_user
from fedperm_aggregator import migrations as aggregator
from fedperm_aggregator.settings import AggregatorSettings
from fedperm_keyserver import migrations as key_server
from fedperm_keyserver.settings import KeyServerSettings

SERVERS = {
    AGGREGATOR.name: (AggregatorSettings, aggregator.SCHEMA),
    KEY_SERVER.name: (KeyServerSettings, key_server.SCHEMA),
}


class Command:
    def __init__(self, name, folder, capsys) -> None:
        self.settings, self.schema = SERVERS[name]
        self.folder = folder
        self.url = sqlite_url(folder / f"{name}.db")
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """The exit code and all that was said."""
        code = run_schema_command(self.settings, self.schema, arguments)
        said = self._capsys.readouterr()
        return code, said.out + said.err

    def tables(self) -> list[str]:
        database = open_database(self.url, self.schema)
        try:
            return inspect(database.engine).get_table_names()
        finally:
            database.close()


@pytest.fixture(params=SERVERS)
def command(request, tmp_path, monkeypatch, capsys):
    prefix = SERVICES[request.param].env_prefix
    monkeypatch.setenv(prefix + "STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv(prefix + "OPERATOR_TOKEN_FILE", str(tmp_path / "unused"))
    handlers = logging.root.handlers[:]
    (tmp_path / "state").mkdir()
    yield Command(request.param, tmp_path / "state", capsys)
    logging.root.handlers[:] = handlers


def shown(command: Command, version: str) -> str:
    return f"database  {version}\nprogram   {command.schema.newest}\n"


def test_up_and_down(command):
    assert command("show") == (0, shown(command, "base"))
    assert command("upgrade") == (0, shown(command, command.schema.newest))
    assert command("downgrade", "0001") == (0, shown(command, "0001"))
    assert command("downgrade", "base", "--lose-everything") == (0, shown(command, "base"))
    assert command("upgrade") == (0, shown(command, command.schema.newest))


def test_everything_is_lost_only_by_whoever_says_so(command):
    before = command.tables()
    code, said = command("downgrade", "base")
    assert (code, command.tables()) == (2, before)
    assert "say --lose-everything" in said


def test_a_server_that_runs_is_not_moved_under_its_feet(command):
    command("upgrade")
    with sole_user(command.folder, "server"):
        assert command("show") == (0, shown(command, command.schema.newest))
        for arguments in (["upgrade"], ["downgrade", "base", "--lose-everything"]):
            code, said = command(*arguments)
            assert code == 2
            assert "stop it" in said
    assert command("show") == (0, shown(command, command.schema.newest))


def test_a_version_that_is_not_there_is_named(command):
    code, said = command("downgrade", "0007")
    assert code == 2
    assert "there is no version 0007" in said


@pytest.mark.parametrize("name", SERVERS)
def test_it_is_found_where_the_documentation_says(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["schema", "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module(f"{SERVICES[name].module}.schema", run_name="__main__")
    assert f"python -m fedperm_{name}.schema" in capsys.readouterr().out
