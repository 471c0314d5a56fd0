"""Names and numbers of runs, clients, keys, rounds and epochs are of the types in `fedperm.ids`
wherever they are handed on. mypy does the rest: it refuses one id where another is wanted, but a
parameter that is a plain `str` takes them all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ROOMS = (
    "services/aggregator/fedperm_aggregator",
    "services/keyserver/fedperm_keyserver",
    "services/client/fedperm_client",
    "shared/public/fedperm/api",
    "shared/public/fedperm/wire",
    "shared/public/fedperm/run_document.py",
    "shared/public/fedperm/submissions.py",
    "shared/public/fedperm/privacy/ledger.py",
    "shared/secret/fedperm_secret",
    "shared/cli/fedperm_cli",
)

PLAIN = {
    **dict.fromkeys(("run", "client", "key"), "str"),
    **dict.fromkeys(("number", "round", "epoch", "settled"), "int"),
}
"""What an id of this name must not be, alone or as a member of another type."""

_ENTRY = "of an entry in the audit log"
_PROCESS = "of a client's process, which the demo names before the key server names the client"

EXCEPTIONS = {
    "services/keyserver/fedperm_keyserver/tables.py: AuditRow.number": _ENTRY,
    "shared/public/fedperm/wire/key_server.py: AuditEntry.number": _ENTRY,
    "shared/public/fedperm/wire/statements.py: AuditHead.number": _ENTRY,
    "shared/cli/fedperm_cli/audit/log.py: _End.number": _ENTRY,
    "shared/cli/fedperm_cli/config_values.py: checked_value.key": "of a setting in a file",
    "shared/cli/fedperm_cli/demo/outcome.py: ClientModel.client": _PROCESS,
    "shared/cli/fedperm_cli/demo/outcome.py: _read_model.client": _PROCESS,
}
"""Places with what the name or number there is of."""


def plain_ids(tree: ast.AST) -> Iterator[str]:
    """Places of fields and parameters that are named like an id and have a plain type, as in
    `Lease.run` and `the_run.run`. Variables of functions are not looked at: they are inferred."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield from _if_plain(node.name, field.target.id, field.annotation)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                yield from _if_plain(node.name, parameter.arg, parameter.annotation)
        yield from plain_ids(node)


def _if_plain(where: str, name: str, hint: ast.expr | None) -> Iterator[str]:
    plain = PLAIN.get(name)
    if hint is not None and plain is not None and plain in _types_in(hint):
        yield f"{where}.{name}"


def _types_in(hint: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(hint) if isinstance(node, ast.Name)}


def found_in(room: str) -> set[str]:
    path = ROOT / room
    return {
        f"{file.relative_to(ROOT).as_posix()}: {place}"
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        for place in plain_ids(ast.parse(file.read_text()))
    }


@pytest.mark.parametrize("room", ROOMS)
def test_ids_have_their_types(room):
    assert found_in(room) - EXCEPTIONS.keys() == set()


def test_exceptions_are_still_there():
    assert EXCEPTIONS.keys() <= set().union(*map(found_in, ROOMS))


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("def the_run(session: Session, run: str) -> RunRow: ...", ["the_run.run"]),
        ("async def beat(*, run: RunName, client: str): ...", ["beat.client"]),
        ("class Store:\n    def get(self, key: str | None = None): ...", ["get.key"]),
        ("class Lease:\n    run: RunName\n    round: int", ["Lease.round"]),
        ("class RoundRow(Base):\n    epoch: Mapped[int] = mapped_column()", ["RoundRow.epoch"]),
        ("class Asked(Message):\n    number: Annotated[int, Field(ge=1)]", ["Asked.number"]),
        ("def outer():\n    def tell(epoch: int): ...", ["tell.epoch"]),
        ("def the_run(run: RunName, number: RoundField, text: str): ...", []),
        ("class Open:\n    epoch: EpochNumber\n    rounds: int", []),
    ],
)
def test_a_plain_id_is_noticed(source, places):
    assert list(plain_ids(ast.parse(source))) == places
