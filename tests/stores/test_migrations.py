"""Both servers' tables: the revisions make what the stores expect, and give it back."""

import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from setuptools import find_packages
from sqlalchemy import JSON, MetaData, inspect, text

import fedperm_aggregator.migrations
import fedperm_aggregator.tables
import fedperm_keyserver.migrations
import fedperm_keyserver.tables
from fedperm import migrations
from fedperm.database import Database, open_database
from fedperm.errors import SettingsError
from fedperm.schema import Schema, bring_up_to_date, recorded_version
from tests.storage.former_schema import FormerSchema

SERVERS = {
    "aggregator": (fedperm_aggregator.migrations, fedperm_aggregator.tables),
    "keyserver": (fedperm_keyserver.migrations, fedperm_keyserver.tables),
}


class Server:
    """One server's database in the state in which the test wants it."""

    def __init__(self, url: str, revisions: ModuleType, models: ModuleType) -> None:
        self.url = url
        self.schema: Schema = revisions.SCHEMA
        self.models: MetaData = models.Base.metadata
        self.database = Database(url)

    @property
    def engine(self):
        return self.database.engine

    def bring_up_to_date(self) -> None:
        bring_up_to_date(self.engine, self.schema)

    def version(self) -> str | None:
        with self.engine.begin() as connection:
            return recorded_version(connection, self.schema)

    def tables(self) -> dict[str, object]:
        """All that the database says of them."""
        looking = inspect(self.engine)
        names = set(looking.get_table_names()) - {self.schema.version_table}
        return {name: _table(looking, name) for name in names}

    def statements(self) -> list[list[str]]:
        """SQLite keeps the very words that made its tables and indexes: what stands between their
        brackets, in whatever order columns were added."""
        query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> :own"
        with self.engine.begin() as connection:
            found = connection.execute(text(query), {"own": self.schema.version_table})
            words = [" ".join(row.sql.replace('"', "").split()) for row in found]
        return sorted(sorted(re.split(r",(?![^()]*\))", one.replace("( ", "("))) for one in words)

    def found_tables(self) -> MetaData:
        """As they are in the database, whichever revision made them."""
        found = MetaData()
        found.reflect(self.engine)
        found.remove(found.tables[self.schema.version_table])
        return found

    def fill(self) -> None:
        """A row in every table, parents first."""
        tables = self.found_tables().sorted_tables
        with self.engine.begin() as connection:
            for table in tables:
                row = {column.name: _sample(column, table) for column in table.columns}
                connection.execute(table.insert().values(row))

    def rows(self) -> dict[str, int]:
        """How many are in each table."""
        tables = self.found_tables().sorted_tables
        with self.engine.begin() as connection:
            return {table.name: len(connection.execute(table.select()).all()) for table in tables}


def _table(looking, name):
    return {
        "columns": sorted(
            (c["name"], str(c["type"]), c["nullable"], c["default"] or "")
            for c in looking.get_columns(name)
        ),
        "primary key": looking.get_pk_constraint(name),
        "references": _sorted(looking.get_foreign_keys(name)),
        "unique": _sorted(looking.get_unique_constraints(name)),
        "checks": _sorted(looking.get_check_constraints(name)),
        "indexes": _sorted(looking.get_indexes(name)),
    }


def _sorted(found):
    return sorted(map(repr, found))


def _sample(column, table):
    """Alike for columns that refer to each other."""
    special = {("runs", "state"): "waiting", ("rounds", "state"): "open", ("jobs", "kind"): "check"}
    if (table.name, column.name) in special:
        return special[table.name, column.name]
    if column.name == "state":
        return "stored"
    if isinstance(column.type, JSON):
        return {"key_bits": 512}
    if column.type.python_type is int:
        return 1
    samples = {float: 0.25, bool: True, bytes: b"\0octets"}
    return samples.get(column.type.python_type, "x" * 16)


@pytest.fixture(params=SERVERS)
def server(request, database_url):
    server = Server(database_url, *SERVERS[request.param])
    yield server
    server.database.close()


def test_the_newest_tables_are_those_of_the_models(server):
    server.bring_up_to_date()
    options = {"version_table": server.schema.version_table, "compare_server_default": True}
    with server.engine.begin() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, server.models) == []


def test_they_are_the_same_to_the_last_constraint(server):
    """What is compared above leaves out checks, and how SQLite numbers rows."""
    server.bring_up_to_date()
    migrated = server.tables()
    words = server.statements() if server.engine.name == "sqlite" else None
    migrations.downgrade(server.engine, server.schema, "base")
    server.models.create_all(server.engine)
    assert migrated == server.tables()
    assert words is None or words == server.statements()


def test_a_database_from_before_there_were_versions_is_adopted_with_its_rows(server):
    bring_up_to_date(server.engine, FormerSchema(server.schema.program, server.schema.revisions, 1))
    server.fill()
    before = server.rows()
    with server.engine.begin() as connection:
        connection.execute(text(f"DROP TABLE {server.schema.version_table}"))
    open_database(server.url, server.schema).close()
    assert server.version() == server.schema.newest
    rows = server.rows()
    assert set(rows) == set(server.models.tables)
    assert sum(rows.values()) == sum(before.values())  # tables of later revisions are empty


def test_each_revision_undoes_what_it_did_and_can_be_done_again(server):
    """Version by version, as if each had been the newest once."""
    below, tables_below = migrations.BASE, server.tables()
    for known, version in enumerate(server.schema.versions, start=1):
        former = FormerSchema(server.schema.program, server.schema.revisions, known)
        bring_up_to_date(server.engine, former)
        tables = server.tables()
        assert tables != tables_below
        migrations.downgrade(server.engine, former, below)
        assert server.tables() == tables_below
        bring_up_to_date(server.engine, former)
        assert server.tables() == tables
        below, tables_below = version, tables


def test_down_and_up_again_with_rows_the_server_can_go_on(server):
    server.bring_up_to_date()
    server.fill()
    migrations.downgrade(server.engine, server.schema, "base")
    server.bring_up_to_date()
    assert set(server.rows().values()) == {0}
    server.fill()


def test_neither_server_takes_the_others_database(database_url):
    ours = Server(database_url, *SERVERS["aggregator"])
    ours.bring_up_to_date()
    with pytest.raises(SettingsError, match="not the keyserver's"):
        open_database(database_url, SERVERS["keyserver"][0].SCHEMA)
    ours.database.close()


@pytest.mark.parametrize("name", SERVERS)
def test_revisions_are_numbered_in_one_line(name):
    schema: Schema = SERVERS[name][0].SCHEMA
    numbers = [int(version) for version in schema.versions]
    assert numbers == list(range(1, len(numbers) + 1))
    for path, version in zip(sorted(schema.folder.glob("0*.py")), schema.versions, strict=True):
        assert f'revision = "{version}"\n' in path.read_text()


@pytest.mark.parametrize("name", SERVERS)
def test_revisions_travel_with_the_distribution(name):
    project = Path(__file__).parents[2] / "services" / name
    tools = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["setuptools"]
    packages = find_packages(project, include=tools["packages"]["find"]["include"])
    assert SERVERS[name][0].SCHEMA.revisions in packages
