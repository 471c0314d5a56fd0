"""Inside a server, dependencies point one way: which layer a module belongs to, and which layers it
may import. Rules know neither stores nor the web; stores are handed the rules that they apply."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Layer:
    """`rooms` are modules and folders, which may import each other without circles, and the layers
    in `below`. A module of a folder can be a room of its own: `rounds.rules`. A pure layer is data
    or functions of data, without I/O."""

    rooms: frozenset[str]
    below: frozenset[str] = frozenset()
    is_pure: bool = False


Layers = Mapping[str, Layer]
Imports = Mapping[str, set[str]]
"""Dotted names of modules, each with those that it imports."""


def layer(rooms: str, below: str = "", *, is_pure: bool = False) -> Layer:
    return Layer(frozenset(rooms.split()), frozenset(below.split()), is_pure)


SERVERS: Mapping[str, Layers] = {
    "fedperm_keyserver": {
        "records": layer("records events origin", is_pure=True),
        "rules": layer("admission", "records", is_pure=True),
        "tables": layer("tables marks migrations", "records"),
        "stores": layer("stores", "records tables"),
        "services": layer(
            "access alarm authority clients integrity keys metrics services tokens vault",
            "records rules stores tables",
        ),
        "routes": layer("routes", "records services"),
        "program": layer(
            "__main__ app root_keys schema settings unsealing",
            "records services routes stores tables",
        ),
    },
    "fedperm_aggregator": {
        "records": layer("records blob_names", is_pure=True),
        "rules": layer(
            "rounds rounds.phases rounds.rules rounds.tasks submissions submissions.rules",
            "records",
            is_pure=True,
        ),
        "tables": layer("tables migrations", "records"),
        "stores": layer("stores", "records tables"),
        "services": layer(
            "authorization background checkpoints dashboard_source event_fanout event_stream "
            "housekeeping jobs lane long_poll metrics participants presence rounds.results "
            "rounds.scheduler run_documents runs services submissions.intake traces",
            "records rules stores",
        ),
        "routes": layer("routes", "records services"),
        "program": layer("__main__ app schema settings", "records services routes stores tables"),
    },
}
"""Every room of a server, in one layer each."""

NOT_IN_PURE = (
    *("sqlalchemy", "fastapi", "starlette", "httpx", "prometheus_client", "logging", "random"),
    *("fedperm.api", "fedperm.clock", "fedperm.database", "fedperm.web"),
)


def imports_of(package: str) -> dict[str, set[str]]:
    """Of every module; lazily or not, for types or not. `from package.stores import keys` counts as
    both `package.stores` and `package.stores.keys`: either may be the module."""
    home = ROOT / "services" / package.removeprefix("fedperm_")
    found: dict[str, set[str]] = {}
    for path in (home / package).rglob("*.py"):
        name = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
        found[name] = set(_imported(ast.parse(path.read_text())))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not looked at"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(module: str, layers: Layers) -> str:
    """Of a dotted name: a module of a folder if the table names it, else the folder or the module
    beside the others. The package itself has none."""
    _, *names = module.split(".")
    within = ".".join(names[:2])
    if any(within in layer.rooms for layer in layers.values()):
        return within
    return names[0] if names else ""


def rooms_of(package: str, imports: Imports, layers: Layers) -> dict[str, set[str]]:
    """Which of the package's rooms each of them imports, itself left out. Whatever is imported from
    the package itself is one of its rooms."""
    rooms: dict[str, set[str]] = {}
    for module, imported in imports.items():
        if room := room_of(module, layers):
            own = {room_of(name, layers) for name in imported if name.split(".")[0] == package}
            # a folder that has rooms of its own is their package, and empty itself
            rooms.setdefault(room, set()).update(own - {room, "", room.partition(".")[0]})
    return rooms


def upward(rooms: Mapping[str, set[str]], layers: Layers) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second and may not."""
    home = {room: name for name, layer in layers.items() for room in layer.rooms}
    return {
        (room, imported)
        for room, all_imported in rooms.items()
        for imported in all_imported
        if home[imported] not in {home[room], *layers[home[room]].below}
    }


def impure(imports: Imports, layers: Layers) -> set[tuple[str, str]]:
    """Modules of pure layers, each with something that it may not import."""
    pure = {room for layer in layers.values() if layer.is_pure for room in layer.rooms}
    return {
        (module, name)
        for module, imported in imports.items()
        if room_of(module, layers) in pure
        for name in imported
        if f"{name}.".startswith(tuple(f"{forbidden}." for forbidden in NOT_IN_PURE))
    }


@pytest.mark.parametrize("package", SERVERS)
def test_every_room_is_in_one_layer(package):
    named = [room for layer in SERVERS[package].values() for room in layer.rooms]
    assert sorted(named) == sorted(rooms_of(package, imports_of(package), SERVERS[package]))


@pytest.mark.parametrize("package", SERVERS)
def test_a_room_imports_its_own_layer_and_those_below(package):
    assert (
        upward(rooms_of(package, imports_of(package), SERVERS[package]), SERVERS[package]) == set()
    )


@pytest.mark.parametrize("package", SERVERS)
def test_rooms_and_layers_have_no_circles(package):
    rooms = rooms_of(package, imports_of(package), SERVERS[package])
    TopologicalSorter(rooms).prepare()  # raises CycleError and names one
    TopologicalSorter({name: layer.below for name, layer in SERVERS[package].items()}).prepare()


@pytest.mark.parametrize("package", SERVERS)
def test_pure_layers_do_no_input_or_output(package):
    assert impure(imports_of(package), SERVERS[package]) == set()


@pytest.mark.parametrize("package", SERVERS)
def test_rules_and_stores_do_not_know_each_other(package):
    """Said by the table, which might be changed by mistake."""
    layers = SERVERS[package]
    assert "stores" not in layers["rules"].below
    assert "rules" not in layers["stores"].below


EXAMPLE = {
    "records": layer("records", is_pure=True),
    "rules": layer("rules", "records", is_pure=True),
    "stores": layer("stores", "records"),
}


def example(source: str, module: str) -> dict[str, set[str]]:
    """A server of three modules, one of which has this source."""
    empty: dict[str, set[str]] = {f"server.{room}": set() for room in EXAMPLE}
    return {**empty, module: set(_imported(ast.parse(source)))}


@pytest.mark.parametrize(
    "source",
    [
        "from server.rules import judge",
        "from server import rules",
        "import server.rules",
        "def lazily():\n    from server.rules import judge",
    ],
)
def test_a_store_that_imports_a_rule_is_noticed(source):
    imports = example(source, "server.stores.clients")
    assert upward(rooms_of("server", imports, EXAMPLE), EXAMPLE) == {("stores", "rules")}


@pytest.mark.parametrize("source", ["import sqlalchemy.orm", "from fedperm.web import credentials"])
def test_a_rule_that_does_input_or_output_is_noticed(source):
    assert impure(example(source, "server.rules"), EXAMPLE)
    assert not impure(example(source, "server.stores"), EXAMPLE)


def test_a_circle_is_noticed():
    imports = example("from server import rules", "server.records")
    imports["server.rules"] = {"server.records"}
    with pytest.raises(CycleError):
        TopologicalSorter(rooms_of("server", imports, EXAMPLE)).prepare()
