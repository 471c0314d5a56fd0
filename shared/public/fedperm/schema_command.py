"""The command that shows and moves the version of a server's database, beside the server."""

import argparse
import sys
from collections.abc import Sequence

from fedperm import migrations
from fedperm.database import Database, database_at
from fedperm.errors import SettingsError
from fedperm.schema import Schema
from fedperm.services import ServiceSpec
from fedperm.state_folder import sole_user
from fedperm.web.server_settings import ServerSettings, run_server


def run_schema_command(
    settings: type[ServerSettings], schema: Schema, arguments: Sequence[str] | None = None
) -> int:
    """The exit code. The settings are the server's own, from the environment."""
    chosen = _parser(settings.spec, schema).parse_args(arguments)
    return run_server(settings, lambda found: _run(chosen, found, schema))


def _parser(spec: ServiceSpec, schema: Schema) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        f"python -m {spec.module}.schema",
        description="Shows which version the tables of the database have, and moves them to "
        "another. Takes the server's environment variables.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="the versions of the database and of this program")
    commands.add_parser("upgrade", help="to the newest version, as the server does at its start")
    down = commands.add_parser("downgrade", help="to an older version; keep a backup")
    down.add_argument("version", help=f"{', '.join(schema.versions)} or {migrations.BASE}")
    down.add_argument(
        "--lose-everything", action="store_true", help=f"needed for {migrations.BASE}: no tables"
    )
    return parser


def _run(chosen: argparse.Namespace, settings: ServerSettings, schema: Schema) -> None:
    if chosen.command == "show":
        with database_at(settings.url) as database:
            _show(database, schema)
        return
    with (
        sole_user(settings.state_directory, settings.spec.title),
        database_at(settings.url) as database,
    ):
        if chosen.command == "upgrade":
            migrations.upgrade(database.engine, schema)
        else:
            _check_meant(chosen)
            migrations.downgrade(database.engine, schema, chosen.version)
        _show(database, schema)


def _check_meant(chosen: argparse.Namespace) -> None:
    if chosen.version == migrations.BASE and not chosen.lose_everything:
        raise SettingsError(
            f"{migrations.BASE} has no tables: everything in the database would be lost",
            "if that is meant, say --lose-everything",
        )


def _show(database: Database, schema: Schema) -> None:
    with database.engine.begin() as connection:
        version = migrations.version_of(connection, schema)
    sys.stdout.write(f"database  {version}\nprogram   {schema.newest}\n")
