"""A connection to one server together with the credential it is used with."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import SettingsError
from fedperm.services import AGGREGATOR
from fedperm.settings import read_secret
from fedperm_cli.errors import OptionsError

PATIENCE = Patience(seconds=3)
"""A person waits: a server that is away is reported soon."""


@dataclass(frozen=True)
class Server:
    """Where a server is, whose signature its certificate must have, and how long it may be away."""

    url: str
    ca_file: Path | None = None
    patience: Patience = PATIENCE

    def __post_init__(self) -> None:
        if not _is_web_address(self.url):
            raise OptionsError(f"{self.url!r} is no address of a server", _advice(self.url))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with http_client(self.url, self.ca_file) as http:
            yield Connection(http, self.patience)


@dataclass(frozen=True)
class KeyOperator:
    """Who makes keys, lets clients in and revokes them."""

    api: KeyServerApi
    token: str


@dataclass(frozen=True)
class RunOperator:
    """Who makes runs and watches them."""

    api: AggregatorApi
    token: str


@asynccontextmanager
async def key_server(server: Server) -> AsyncIterator[KeyServerApi]:
    """As anybody may use it."""
    async with server.connection() as connection:
        yield KeyServerApi(connection)


@asynccontextmanager
async def _key_operator(server: Server, token: str) -> AsyncIterator[KeyOperator]:
    async with key_server(server) as api:
        yield KeyOperator(api, token)


@asynccontextmanager
async def _run_operator(server: Server, token: str) -> AsyncIterator[RunOperator]:
    async with server.connection() as connection:
        yield RunOperator(AggregatorApi(connection), token)


def key_operator(server: Server, token_file: Path) -> AbstractAsyncContextManager[KeyOperator]:
    return _key_operator(server, operator_token(token_file))


def run_operator(server: Server, token_file: Path) -> AbstractAsyncContextManager[RunOperator]:
    return _run_operator(server, operator_token(token_file))


def operator_token(token_file: Path) -> str:
    """Read before anything is sent."""
    token = read_secret(token_file)
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise SettingsError(
            f"{token_file} does not hold one token", "write the token alone into the file"
        )
    return token


def _advice(url: str) -> str:
    """Most often only the beginning is missing."""
    if "://" not in url and _is_web_address(f"http://{url}"):
        return f"write http://{url}, or https:// where it has TLS"
    return f"give one like http://127.0.0.1:{AGGREGATOR.port}"


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
