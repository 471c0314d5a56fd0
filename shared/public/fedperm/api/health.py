"""What a server tells everybody about itself, and what time it has."""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict

from fedperm.api.connection import Connection, Request
from fedperm.errors import UnreachableError
from fedperm.plain_text import one_line
from fedperm.wire.message import Message

Told = Annotated[str, AfterValidator(lambda text: one_line(text, most=100))]
"""It ends up in sentences of ours."""


class ServerVersion(Message):
    """Read whatever else a newer server tells: it is how versions that differ are noticed."""

    model_config = ConfigDict(extra="ignore")

    service: Told
    version: Told
    protocol: Told


@dataclass(frozen=True)
class ServerFacts:
    """`time` is in POSIX seconds, to the second; None if it tells none."""

    version: ServerVersion
    time: float | None


async def version_of(connection: Connection) -> ServerVersion:
    return await connection.ask(Request("GET", "/version"), ServerVersion)


async def facts_of(connection: Connection) -> ServerFacts:
    """Of a server that can do its work; a refusal says why it cannot."""
    answer = await connection.send(Request("GET", "/readyz"))
    version = await version_of(connection)
    return ServerFacts(version, _time(answer.headers.get("Date"), connection))


def _time(date: str | None, connection: Connection) -> float | None:
    if date is None:
        return None
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        raise UnreachableError(
            f"{connection.base_url} says that it is {date[:40]!r}", "check that it is the server"
        ) from None
