"""The rooms of the command import each other in one direction."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / "shared" / "cli" / "fedperm_cli"


def imports() -> dict[str, set[str]]:
    """Rooms, and modules that stand beside them, with what each imports of the others, lazily or
    not."""
    found: dict[str, set[str]] = {}
    for path in COMMAND.rglob("*.py"):
        room = path.relative_to(COMMAND).parts[0].removesuffix(".py")
        imported = found.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fedperm_cli."):
                imported.add(str(node.module).split(".")[1])
    return {room: imported - {room} for room, imported in found.items()}


def test_there_are_no_circles():
    rooms = imports()
    assert {"demo", "deployment", "federation", "run"} <= set(rooms)
    TopologicalSorter(rooms).prepare()  # raises CycleError and names one


def test_the_demo_and_the_deployment_share_the_federation_and_nothing_of_each_other():
    rooms = imports()
    for room, other in (("demo", "deployment"), ("deployment", "demo")):
        assert "federation" in rooms[room]
        assert other not in rooms[room]
    assert rooms["federation"].isdisjoint({"demo", "deployment"})
