"""Who may import whom: the cut by trust, checked in the sources and in what is installed."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "fedperm": "shared/public",
    "fedperm_secret": "shared/secret",
    "fedperm_cli": "shared/cli",
    "fedperm_keyserver": "services/keyserver",
    "fedperm_aggregator": "services/aggregator",
    "fedperm_client": "services/client",
}
MAY_IMPORT = {
    "fedperm": set(),
    "fedperm_secret": {"fedperm"},
    "fedperm_cli": {"fedperm", "fedperm_secret", "fedperm_client"},  # the extra `tasks`
    "fedperm_keyserver": {"fedperm", "fedperm_secret"},
    "fedperm_aggregator": {"fedperm"},
    "fedperm_client": {"fedperm", "fedperm_secret"},
}
HOMES = {
    "torch": r"fedperm_client\.(tasks|training|initial_model|__main__)",
    "sklearn": r"fedperm_client\.tasks\.digits",
    "safetensors": r"fedperm_client\.model_store",
    "opendp": r"fedperm\.noise",
    "dp_accounting": r"fedperm\.privacy",
    "scipy": r"fedperm\.(noise|privacy)",
    "gmpy2": r"fedperm(_secret)?\.schemes\.paillier",
    "phe": r"fedperm_secret\.schemes\.paillier\.storage|fedperm_cli\.bench",
    "httpx": r"fedperm\.api",
    "jwt": r"fedperm\.wire\.signed",
    "sqlalchemy": r"fedperm\.(database|engines|schema|migrations)"
    r"|fedperm_(aggregator|keyserver)\.(tables|stores?|migrations)|fedperm_keyserver\.marks",
    "alembic": r"fedperm\.migrations|fedperm_(aggregator|keyserver)\.migrations",
    "fastapi": r"fedperm\.(web|dashboard)|fedperm_(aggregator|keyserver)\.(app|routes)",
    "starlette": r"fedperm\.(web|dashboard)|fedperm_(aggregator|keyserver)\.routes",
    "uvicorn": r"fedperm\.web\.(connections|serving)",
    "h11": r"fedperm\.web\.connections",
    "matplotlib": r"fedperm_cli",
    "opentelemetry": r"fedperm_aggregator\.traces",
    "typer": r"fedperm_cli",
    "rich": r"fedperm_cli",
}
"""Where a library may be imported: the beginning of the module's name."""

ROOMS = ("fedperm.noise", "fedperm.privacy")
"""Packages whose modules say in `__all__` what others may import."""

EXTRA_PRIVACY = ("scipy", "dp_accounting", "opendp")

IMPORTED_AS = {
    "PyJWT": "jwt",
    "scikit-learn": "sklearn",
    "prometheus-client": "prometheus_client",
    "opentelemetry-sdk": "opentelemetry",
}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of ours by its dotted name."""
    for package, home in PACKAGES.items():
        for path in (ROOT / home / package).rglob("*.py"):
            name = path.relative_to(ROOT / home).with_suffix("")
            yield ".".join(name.parts).removesuffix(".__init__"), path


@cache
def modules_imported_by(path: Path) -> frozenset[str]:
    """Dotted names that the module imports, lazily or not."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return frozenset(names)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Top-level names that the module imports."""
    return frozenset(name.split(".")[0] for name in modules_imported_by(path))


def imported(package: str) -> set[str]:
    own = [path for name, path in modules() if name.split(".")[0] == package]
    return set().union(*map(imports_of, own)) - {package}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_downward(package):
    assert imported(package) & set(PACKAGES) <= MAY_IMPORT[package]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_declares_what_it_imports(package):
    outside = imported(package) - set(sys.stdlib_module_names)
    names = {Requirement(line).name for line in requires(package.replace("_", "-")) or []}
    declared = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}
    assert outside <= declared


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_in_its_home(library):
    importing = [name for name, path in modules() if library in imports_of(path)]
    assert importing
    assert [name for name in importing if not re.match(rf"({HOMES[library]})\b", name)] == []


KNOW_PAILLIER = (
    r"fedperm(_secret)?\.schemes\.(paillier|registry)"
    r"|fedperm_cli\.bench\.(baseline|measurement)"  # compare it with python-paillier
)


def test_nobody_else_knows_paillier():
    """Everything that is Paillier's is behind `fedperm.schemes` and `fedperm_secret.schemes`."""
    knowing = [
        name
        for name, path in modules()
        if any(".schemes.paillier" in imported for imported in modules_imported_by(path))
    ]
    assert knowing
    assert [name for name in knowing if not re.match(rf"({KNOW_PAILLIER})\b", name)] == []


def offered(path: Path) -> set[str]:
    """What the module lists in `__all__`; nothing if it has none."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def imported_from(room: str) -> set[tuple[str, str]]:
    """(module, name) of everything that others take from the room's modules."""
    others = [path for name, path in modules() if not name.startswith(room)]
    return {
        (node.module, alias.name)
        for path in (*others, *(ROOT / "experiments").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(room)
        for alias in node.names
    }


@pytest.mark.parametrize("room", ROOMS)
def test_others_import_only_what_a_room_offers(room):
    names = {(name, one) for name, path in modules() for one in offered(path)}
    taken = imported_from(room)
    assert taken
    assert taken - names == set()


def test_the_aggregator_runs_without_the_extra_privacy():
    """Its image has none of these libraries: a module that imports one would not start there."""
    mine = sorted(name for name, _ in modules() if name.split(".")[0] == "fedperm_aggregator")
    program = (
        "import importlib, sys\n"
        f"sys.modules |= dict.fromkeys({EXTRA_PRIVACY!r})\n"
        f"for name in {mine!r}: importlib.import_module(name)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def closure(distribution: str) -> set[str]:
    """Everything that installing the distribution brings along, extras only where asked for."""
    found: set[str] = set()
    seen, waiting = set(), [Requirement(distribution)]
    while waiting:
        wanted = waiting.pop()
        if (key := (wanted.name, *sorted(wanted.extras))) in seen:
            continue
        seen.add(key)
        found.add(wanted.name.lower().replace("_", "-"))
        waiting += [
            needed
            for needed in map(Requirement, requires(wanted.name) or [])
            if needed.marker is None
            or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras))
        ]
    return found


def test_the_closure_follows_requirements():
    client = closure("fedperm-client")
    assert {"fedperm", "fedperm-secret", "phe", "gmpy2", "torch", "dp-accounting"} <= client


@pytest.mark.parametrize("forbidden", ["phe", "fedperm-secret", "torch", "scipy"])
def test_the_aggregators_closure_holds_nothing_secret(forbidden):
    assert forbidden not in closure("fedperm-aggregator")


def test_the_key_server_needs_no_torch():
    assert "torch" not in closure("fedperm-keyserver")


def rooms_imported(room: str) -> set[str]:
    """The aggregator's own rooms that a room's modules import at run time, itself left out."""
    package, found = "fedperm_aggregator", set()
    for name, path in modules():
        if re.match(rf"{package}\.{room}\b", name):
            tree = ast.parse(path.read_text())
            guarded = {
                inner
                for node in ast.walk(tree)
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
                for inner in ast.walk(node)
            }
            for node in set(ast.walk(tree)) - guarded:
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
                    dotted = node.module.removeprefix(package).strip(".")
                    found |= {dotted.split(".")[0]} if dotted else {a.name for a in node.names}
    return found - {room}


def test_records_are_below_stores_and_jobs():
    """What both need is in one module that knows neither."""
    assert rooms_imported("records") == set()
    assert "records" in rooms_imported("stores") & rooms_imported("jobs")
    assert "jobs" not in rooms_imported("stores")
