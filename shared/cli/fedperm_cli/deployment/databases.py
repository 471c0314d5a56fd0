"""Where the servers keep their rows: a file each, or PostgreSQL.

With PostgreSQL each server has a role and a database of its own, which the other cannot open:
whoever writes to the key server's database can enrol, and so obtain the secret key.
"""

import secrets
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from fedperm_cli.errors import DeploymentError

POSTGRES = "postgres"
"""Its container, and the folder with what it needs."""


class DatabaseKind(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


_SCHEMES = {DatabaseKind.SQLITE: "sqlite", DatabaseKind.POSTGRES: "postgresql+psycopg"}


def new_database_url(kind: DatabaseKind, server: str) -> str:
    """As the containers of the compose file see it."""
    if kind is DatabaseKind.SQLITE:
        return f"sqlite:////var/lib/fedperm/{server}.db"
    scheme, password = _SCHEMES[kind], secrets.token_urlsafe(32)
    return with_tls(f"{scheme}://{server}:{password}@{POSTGRES}:5432/{server}")


def with_tls(url: str) -> str:
    """The servers speak to PostgreSQL by TLS, and know it by the private CA. What was prepared by
    an older version does not say so yet."""
    if urlsplit(url).scheme != _SCHEMES[DatabaseKind.POSTGRES] or "sslmode=" in url:
        return url
    return f"{url}?sslmode=verify-full&sslrootcert=/run/fedperm/ca.pem"


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
