"""Survivors that a person has looked at: why no test kills them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.mutants.results import Result

LIST = Path(__file__).with_name("judged.toml")


@dataclass(frozen=True)
class Judgement:
    kind: str
    why: str


def judgements(path: Path = LIST) -> Mapping[tuple[str, str, str, str], Judgement]:
    """By module, function, and the line before and after."""
    return {
        (group["module"], group["function"], before, after): Judgement(group["kind"], group["why"])
        for group in tomllib.loads(path.read_text()).get("group", [])
        for before, after in group["changes"]
    }


def judgement_of(
    survivor: Result, known: Mapping[tuple[str, str, str, str], Judgement]
) -> Judgement | None:
    key = (survivor.module, survivor.function or "", survivor.before, survivor.after)
    return known.get(key)
