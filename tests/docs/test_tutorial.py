"""docs/tutorial.md: a newcomer copies every step, and sees what it shows."""

import re
import shlex
import subprocess

import pytest

from tests.docs.shell_blocks import ROOT, blocks, executed, on_free_ports

TUTORIAL = "docs/tutorial.md"


@pytest.mark.system
def test_every_step_works_and_prints_what_is_shown(tmp_path):
    """In one shell that stops at the first one that fails. One test: the federation takes a minute
    of the processor, and would take another for a second worker of the tests."""
    script = on_free_ports("\n".join(blocks(TUTORIAL, "sh")))
    finished = executed(f"set -e\n{script}", tmp_path)
    said = finished.said
    assert finished.returncode == 0, said
    shown = [line for block in blocks(TUTORIAL, "text") for line in block.splitlines()]
    printed = {shape(line) for line in said.splitlines()}
    assert len(shown) > 20
    assert [line for line in shown if shape(line) not in printed] == [], said
    # privacy as planned, as promised by the run, and as counted by a client
    assert said.count("replacing one of a client's 200 records: epsilon 1 at delta 1e-05") == 2
    assert "row 6, one record:        epsilon 1\n" in said
    # what is taken away is the last round's model
    (last,) = re.findall(r"^round +4 .* test accuracy +([\d.]+%)", said, re.MULTILINE)
    (taken,) = re.findall(r"^accuracy +([\d.]+%)$", said, re.MULTILINE)
    assert taken == last


def shape(line: str) -> str:
    """Without what differs from run to run: hashes, numbers but epsilons, and the units of time."""
    if "epsilon" in line:
        return " ".join(line.split())
    line = re.sub(r"\b(?=[a-f]*\d)[0-9a-f]{16,}\b", "HASH", line)
    line = re.sub(r"\d[\d.,:-]*(?<![.,:])( (s|min|ms)\b)?", "N", line)
    return " ".join(line.split())


def test_the_first_step_is_what_make_offers():
    """Not done again: CI itself begins with the first line, and tests/cli has a demo."""
    (block,) = blocks(TUTORIAL)
    for line in block.splitlines():
        command = [*shlex.split(line), "--dry-run"]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
