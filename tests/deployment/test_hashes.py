"""Images are built from files of known hashes, all that they need and nothing else."""

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HASHES = ROOT / "deploy" / "requirements"
LOCKS = ("images.txt", "torch.txt", "torch-cpu.txt")
DOCKERFILES = sorted(ROOT.glob("services/*/Dockerfile"))


def pins(file: Path) -> dict[str, tuple[str, int]]:
    """Version and number of hashes, by name."""
    found = {}
    for block in re.split(r"\n(?=\S)", file.read_text().strip()):
        head, *hashes = block.replace("\\\n", "\n").splitlines()
        requirement = Requirement(head.strip())
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", head
        good = [line for line in hashes if re.fullmatch(r"    --hash=sha256:[0-9a-f]{64} ?", line)]
        assert len(good) == len(hashes), head
        found[canonicalize_name(requirement.name)] = (specifier.version, len(hashes))
    return found


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines)
    return {canonicalize_name(name): version for name, version in pairs}


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_has_a_version_and_hashes(lock):
    assert all(hashes > 0 for _, hashes in pins(HASHES / lock).values())


@pytest.mark.parametrize("lock", LOCKS)
def test_versions_are_those_that_are_tested(lock):
    tested = constraints()
    for name, (version, _) in pins(HASHES / lock).items():
        if name in tested:
            assert version.removesuffix("+cpu") == tested[name], name


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> set[str]:
    """All that an installed distribution pulls in on this machine."""
    if (name, extras) in seen:
        return set()
    seen.add((name, extras))
    found = {name}
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        environments = [{"extra": extra} for extra in (*extras, "")]
        if wanted.marker is None or any(map(wanted.marker.evaluate, environments)):
            found |= needed(canonicalize_name(wanted.name), frozenset(wanted.extras), seen)
    return found


def test_nothing_is_missing():
    """By what is installed here: independent of the tool that wrote the files."""
    lines = [line for line in (HASHES / "images.in").read_text().splitlines() if line[0] == "."]
    ours, all_needed = set(), set()
    for line in lines:
        path, _, extras = line.partition("[")
        project = tomllib.loads((ROOT / path / "pyproject.toml").read_text())["project"]
        ours.add(project["name"])
        asked = frozenset(extras.rstrip("]").split(",")) - {""}
        all_needed |= needed(project["name"], asked, set())
    assert {path.parent for path in ROOT.glob("s*/*/pyproject.toml")} == {
        (ROOT / line.partition("[")[0]).resolve() for line in lines
    }
    assert all_needed - ours - {"torch"} <= pins(HASHES / "images.txt").keys()
    assert "setuptools" in pins(HASHES / "images.txt")  # builds ours


def test_both_builds_of_torch_are_the_clients():
    client = tomllib.loads((ROOT / "services/client/pyproject.toml").read_text())["project"]
    (wanted,) = [text for text in client["dependencies"] if text.startswith("torch==")]
    assert f"torch=={pins(HASHES / 'torch.txt')['torch'][0]}" == wanted
    assert pins(HASHES / "torch-cpu.txt").keys() == {"torch"}
    assert f"torch=={pins(HASHES / 'torch-cpu.txt')['torch'][0]}" == f"{wanted}+cpu"


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.parent.name)
def test_pip_fetches_by_hash_and_installs_what_was_fetched(file):
    text = file.read_text().replace("\\\n", " ")
    fetching, offline, installing = text.partition("ENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels")
    assert offline
    fetches = re.findall(r"pip download [^;\n]*", fetching)
    assert fetches
    for fetch in fetches:
        assert "--require-hashes --no-deps --only-binary :all:" in fetch
    assert "pip install" not in fetching
    assert "PIP_ARGS" not in installing
    assert "pip check" in installing.replace("--python /opt/fedperm/bin/python ", "")
