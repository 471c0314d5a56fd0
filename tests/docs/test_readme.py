"""README.md: a page for five minutes, and no command in it that no test executes."""

import re
import shlex
import subprocess

import pytest

from tests.docs.shell_blocks import ROOT, blocks

README = "README.md"
EXECUTED_ELSEWHERE = {
    "cd out/demo-1": "tests/cli/test_demo.py",
    "docker compose up --build --scale client=5": "tests/docker/test_federation.py",
    "docker compose cp": "tests/docker/test_federation.py",
}
"""How the block begins."""


def command_blocks() -> list[list[str]]:
    """Of every block that is no picture or output, the commands without what is said to them."""
    found = [*blocks(README), *blocks(README, "sh")]
    return [[line.partition("  #")[0].strip() for line in block.splitlines()] for block in found]


def test_every_command_is_executed_by_a_test():
    tutorial = "".join(blocks("docs/tutorial.md", "sh")).splitlines()
    for commands in command_blocks():
        if commands[0].startswith(tuple(EXECUTED_ELSEWHERE)):
            continue
        for command in commands:
            if command.startswith("make "):
                offered = [*shlex.split(command), "--dry-run"]
                subprocess.run(offered, cwd=ROOT, capture_output=True, check=True)
            else:
                assert command.removeprefix(".venv/bin/") in tutorial, command


def test_it_has_the_blocks_that_other_tests_execute():
    first = [commands[0] for commands in command_blocks()]
    for beginning, test in EXECUTED_ELSEWHERE.items():
        assert len([line for line in first if line.startswith(beginning)]) == 1
        assert README in (ROOT / test).read_text()


@pytest.mark.parametrize("heading", ["## What privacy costs", "## What it costs"])
def test_its_figures_are_those_of_the_results(heading):
    results = (ROOT / "docs/results.md").read_text()
    section = (ROOT / README).read_text().partition(f"{heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) > 5
    assert [row for row in rows if row not in results.splitlines()] == []


def test_its_means_are_those_of_the_results():
    results = (ROOT / "docs/results.md").read_text()
    readme = (ROOT / README).read_text()
    figures = re.findall(r"[0-9.]+ ± [0-9]+\.[0-9]+", readme)
    assert len(figures) > 10
    epsilons = re.search(r"epsilon ([0-9,]+) \(heavy\) and ([0-9,]+) \(light\)", readme)
    assert epsilons is not None
    figures += epsilons.groups()
    assert [figure for figure in figures if figure not in results] == []


def test_it_takes_five_minutes():
    assert len((ROOT / README).read_text().splitlines()) <= 190
