"""Where the servers keep their rows: a file each, or PostgreSQL.

With PostgreSQL each server has a role and a database of its own, which the other cannot open:
whoever writes to the key server's database can enrol, and so obtain the secret key.
"""

import secrets
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from fedperm_cli.errors import DeploymentError


class DatabaseKind(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


_SCHEMES = {DatabaseKind.SQLITE: "sqlite", DatabaseKind.POSTGRES: "postgresql+psycopg"}


def new_database_url(kind: DatabaseKind, server: str) -> str:
    """As the containers of the compose file see it."""
    if kind is DatabaseKind.SQLITE:
        return f"sqlite:////var/lib/fedperm/{server}.db"
    scheme, password = _SCHEMES[kind], secrets.token_urlsafe(32)
    return f"{scheme}://{server}:{password}@postgres:5432/{server}"


def check_database_url(url: str, kind: DatabaseKind, file: str) -> None:
    """A deployment stays with the database it has: another one would be empty."""
    if urlsplit(url).scheme != _SCHEMES[kind]:
        raise DeploymentError(
            f"{file} names another database than {kind}, in which everything lies so far",
            "ask for the database it was prepared with, or start anew: docker compose down -v",
        )


def roles_and_databases(urls: Mapping[str, str]) -> str:
    """SQL for an empty PostgreSQL: a role and a database for each server of `urls`."""
    return "".join(
        f"CREATE ROLE {server} LOGIN PASSWORD '{urlsplit(url).password}';\n"
        f"CREATE DATABASE {server} OWNER {server};\n"
        f"REVOKE ALL ON DATABASE {server} FROM PUBLIC;\n"
        for server, url in urls.items()
    )
