"""docs/protocol.md lists every member of every JSON message as the code has it: an outsider writes
messages from it alone."""

import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from fedperm import axes, run_document
from fedperm.wire import aggregator, events, key_server, problem, statements
from fedperm.wire.signed import Statement
from tests.docs.message_forms import members_of

PROTOCOL = (Path(__file__).parents[2] / "docs/protocol.md").read_text()


def models_of(*modules: ModuleType) -> dict[str, type[BaseModel]]:
    """Those that are defined there, by name."""
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if isinstance(found, type)
        and issubclass(found, BaseModel)
        and found.__module__ == module.__name__
    }


MESSAGES = models_of(key_server, aggregator, run_document, axes, problem) | {
    "SchemeSpec": statements.SchemeSpec,
    "Event": events.Event,
}
STATEMENTS = {
    model.typ: model
    for model in models_of(statements).values()
    if issubclass(model, Statement) and "typ" in vars(model)
}


def tables_with(*heading: str) -> list[list[str]]:
    """The cells of all rows below such a heading, wherever it stands."""
    head = re.escape("| " + " | ".join(heading) + " |") + r"[^\n]*\n\|[-|]+\n"
    blocks = re.findall(head + r"((?:\|[^\n]*\n)+)", PROTOCOL)
    rows = [row for block in blocks for row in block.splitlines()]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@cache
def documented() -> dict[str, list[str]]:
    """Members by message; what one means stands behind a colon."""
    return {
        message.strip("`"): members_in(members)
        for message, members in tables_with("message", "members")
    }


def members_in(cell: str) -> list[str]:
    return [member.partition(": ")[0] for member in cell.split("; ") if member]


def test_every_message_is_there_and_no_other() -> None:
    assert set(documented()) == set(MESSAGES)


@pytest.mark.parametrize("message", MESSAGES)
def test_the_members_of_a_message_are_those_of_the_code(message: str) -> None:
    assert documented()[message] == members_of(MESSAGES[message])


def test_the_members_of_signed_statements_are_those_of_the_code() -> None:
    rows = tables_with("statement", "`typ`", "signed by", "members")
    listed = {typ.strip("`"): names_in(members) for _, typ, _, members in rows}
    assert listed == {typ: set(model.model_fields) for typ, model in STATEMENTS.items()}


def names_in(members: str) -> set[str]:
    """Without what brackets say of them, and without what lies inside them."""
    bare = re.sub(r" \([^)]*\)", "", members)
    return {member.split(".")[0] for member in bare.split(", ")}


def test_the_kinds_of_events_are_those_of_the_code() -> None:
    rows = {kind.strip("`"): details for kind, details in tables_with("event", "details")}
    assert set(rows) == set(events.EventKind)
    for kind, details in rows.items():
        told = documented()["ClientReport"] if details == "as ClientReport" else members_in(details)
        assert told == members_of(events.DETAILS[kind]), kind


def test_the_kinds_of_problems_are_those_of_the_code() -> None:
    listed = {(kind.strip("`"), int(status)) for kind, status, _ in tables_with("kind", "status")}
    known = {found for found in vars(problem).values() if isinstance(found, problem.ProblemKind)}
    known |= set(problem.PROBLEMS.values())
    assert listed == {(kind.kind, kind.status) for kind in known}
