"""The command as an operator types it."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.cli.operator import Finished, Operator

COMMAND = Path(sys.executable).with_name("fedperm")
SMALL_KEY = ("--key-bits", "512", "--insecure-test-key")
SMALL_ROUND = (*SMALL_KEY, "--k1", "8", "--k2", "2", "--d", "100", "--clients", "3")


def fedperm(*arguments: str) -> Finished:
    """For those who need no server."""
    return Operator({})(*arguments)


def one_object(*arguments: str) -> dict[str, Any]:
    """The JSON of a command that must succeed, print one line and stay silent otherwise."""
    finished = fedperm(*arguments)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    assert finished.stdout.count("\n") == 1
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def bench_report(*arguments: str) -> dict[str, Any]:
    return one_object("bench", *arguments)


def privacy_report(*arguments: str) -> dict[str, Any]:
    return one_object("privacy", *arguments, "--json")
