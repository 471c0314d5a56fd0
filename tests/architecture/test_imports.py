"""Who may import whom: the cut by trust, checked in the sources and in what is installed."""

import ast
import sys
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
    "fedperm_cli": {"fedperm", "fedperm_secret"},
    "fedperm_keyserver": {"fedperm", "fedperm_secret"},
    "fedperm_aggregator": {"fedperm"},
    "fedperm_client": {"fedperm", "fedperm_secret"},
}
HOMES = {
    "torch": ("fedperm_client",),
    "opendp": ("fedperm",),
    "dp_accounting": ("fedperm",),
    "scipy": ("fedperm",),
    "phe": ("fedperm_secret", "fedperm_cli"),
    "matplotlib": ("fedperm_cli",),
    "typer": ("fedperm_cli",),
    "rich": ("fedperm_cli",),
}


IMPORTED_AS = {"PyJWT": "jwt", "scikit-learn": "sklearn", "prometheus-client": "prometheus_client"}


def imported(package: str) -> set[str]:
    """Top-level names that any module of the package imports, lazily or not."""
    names = set()
    for path in (ROOT / PACKAGES[package] / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
    return names - {package}


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
    assert {p for p in PACKAGES if library in imported(p)} <= set(HOMES[library])


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
