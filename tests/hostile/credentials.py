"""Who may ask for what, as docs/protocol.md says it; and who asks in the tests."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tests.docs.test_protocol import tables_with


class Role(StrEnum):
    """Each sends its credential to both servers."""

    NOBODY = "nobody"
    RUN_OPERATOR = "run operator"
    KEY_OPERATOR = "key operator"
    CLIENT_OF_RUN = "client, token for the aggregator"
    CLIENT_OF_KEYS = "client, token for the key server"
    EXPIRED = "client, token expired"
    OTHER_CLIENT = "another client"
    OTHER_CLIENT_OF_KEYS = "another client, token for the key server"
    OTHER_KEY = "client of another key"
    OTHER_KEY_OF_KEYS = "client of another key, for the key server"
    REVOKED = "revoked client, token for the key server"
    FORGED = "token signed by a stranger"


NAMES = {
    Role.CLIENT_OF_RUN: "ada",
    Role.CLIENT_OF_KEYS: "ada",
    Role.EXPIRED: "ada",
    Role.FORGED: "ada",
    Role.OTHER_CLIENT: "ben",
    Role.OTHER_CLIENT_OF_KEYS: "ben",
    Role.REVOKED: "gone",
    Role.OTHER_KEY: "dora",
    Role.OTHER_KEY_OF_KEYS: "dora",
}
"""The client that a token names."""

PARTICIPANTS = frozenset({Role.CLIENT_OF_RUN, Role.OTHER_CLIENT})
MEMBERS = {
    Role.CLIENT_OF_KEYS: "main",
    Role.OTHER_CLIENT_OF_KEYS: "main",
    Role.OTHER_KEY_OF_KEYS: "other",
}
"""Clients with a token for the key server, and the key that they are enrolled for."""

OPEN = ("/livez", "/readyz", "/version", "/metrics")


@dataclass(frozen=True)
class Endpoint:
    """A method and a path whose parameters have no names: the document has names of its own."""

    method: str
    path: str

    @classmethod
    def of(cls, method: str, path: str) -> "Endpoint":
        return cls(method, re.sub(r"\{\w+\}", "{}", path.partition("?")[0]))


def documented() -> dict[Endpoint, str]:
    """Every endpoint, and the words that say who may use it."""
    rows = tables_with("method and path", "who", "body -> answer", "notes")
    listed = {Endpoint.of(*row[0].strip("`").split(" ")): row[1] for row in rows}
    return listed | {Endpoint.of("GET", path): "all" for path in OPEN}


@dataclass(frozen=True)
class Attempt:
    """Who asks, with which names in the path, and whether the body holds a token or an assertion
    that is good."""

    role: Role
    parameters: dict[str, Any]
    has_proof: bool = False

    @property
    def is_named(self) -> bool:
        return NAMES.get(self.role) == self.parameters.get("client")

    @property
    def is_of_the_key(self) -> bool:
        return self.role in MEMBERS and MEMBERS[self.role] == self.parameters.get("key")


ADMITS: dict[str, Callable[[Attempt], bool]] = {
    "all": lambda _: True,
    "key operator": lambda attempt: attempt.role is Role.KEY_OPERATOR,
    "operator": lambda attempt: attempt.role is Role.RUN_OPERATOR,
    "participant": lambda attempt: attempt.role in PARTICIPANTS,
    "that client": lambda attempt: attempt.role in PARTICIPANTS and attempt.is_named,
    "client": lambda attempt: attempt.is_of_the_key,
    "an enrolment token in the body": lambda attempt: attempt.has_proof,
    "a client assertion in the body": lambda attempt: attempt.has_proof,
}
"""Whom the words of docs/protocol.md let in."""


def may(attempt: Attempt, who: str) -> bool:
    """A word that nobody knows lets nobody in."""
    known = (ADMITS.get(word.strip()) for word in who.split(","))
    return any(admits(attempt) for admits in known if admits is not None)
