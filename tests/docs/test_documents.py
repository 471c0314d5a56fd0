"""What the documents show must run, and nothing in them may be left open."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fedperm.privacy.accountant import Accountant
from fedperm.privacy.calibration import guarantee
from fedperm.privacy.registry import ACCOUNTANTS
from fedperm.windows import Geometry

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def python_blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def test_the_librarys_round_runs(tmp_path):
    (block,) = python_blocks((ROOT / "docs/library.md").read_text())
    script = tmp_path / "round.py"
    script.write_text(block)
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    *reasons, average = shown.stdout.splitlines()
    assert len(reasons) == 4
    # noise of scale 2 C b on 500 x 3 draws: deviation sqrt(2) * 0.01 / sqrt(1500) = 0.00037
    assert abs(float(average) - 0.01) < 6 * 0.00037


def test_the_privacy_report_is_what_the_command_prints():
    text = (ROOT / "docs/privacy.md").read_text()
    blocks = re.findall(r"```\n(.*?)```", text, flags=re.DOTALL)
    place = [block.startswith(".venv/bin/fedperm privacy") for block in blocks].index(True)
    options = blocks[place].split()[1:]
    shown = subprocess.run(
        [sys.executable, "-m", "fedperm_cli", *options], capture_output=True, text=True, check=True
    )
    assert shown.stdout == blocks[place + 1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_has_an_open_place(document):
    assert not re.search(r"@[A-Z]+@|TODO|FIXME|TBD", document.read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_tests_that_documents_name_exist(document):
    text = document.read_text()
    for path in re.findall(r"`((?:tests|experiments|shared|services)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"`(fedperm(?:_\w+)?(?:\.\w+)+)", text):
        assert names_something(module), module


def names_something(dotted: str) -> bool:
    """A module, or an attribute of one, or a package's path."""
    package, *rest = dotted.split(".")
    homes = [*ROOT.glob(f"shared/*/{package}"), *ROOT.glob(f"services/*/{package}")]
    for home in homes:
        for depth in range(len(rest), 0, -1):
            module = home.joinpath(*rest[:depth])
            if module.is_dir() or module.with_suffix(".py").exists():
                return depth >= len(rest) - 2
    return False


SETTINGS = (Geometry(7850, 400, 1), Geometry(7850, 800, 10))


def table_of_accountants() -> dict[str, list[str]]:
    """The rows of docs/privacy.md with a name and two numbers, bold or not."""
    text = (ROOT / "docs/privacy.md").read_text().replace("*", "").replace(" (experimental)", "")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| ([\d.]+) \|$", text, flags=re.MULTILINE)
    return {name: scales for name, *scales in rows}


def test_the_table_of_accountants_is_what_the_code_computes():
    table = table_of_accountants()
    assert set(table) == {accountant.name for accountant in ACCOUNTANTS}
    for accountant in ACCOUNTANTS:
        for printed, geometry in zip(table[accountant.name], SETTINGS, strict=True):
            assert needs(accountant, geometry, float(printed)), accountant.name


def needs(accountant: Accountant, geometry: Geometry, scale: float) -> bool:
    """This b, to a thousandth, and no smaller one: a little more noise is enough, a little less is
    not. Calibration would ask twenty times."""

    def keeps(factor: float) -> bool:
        return guarantee(accountant, geometry, 50, scale * factor, 1e-5).epsilon <= 4.0

    return keeps(1 + 1e-3) and not keeps(1 - 1e-3)
