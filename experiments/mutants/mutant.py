"""One small mistake in one module."""

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`function` is the outermost function or method with the change in its body, by its
    qualified name; None for a change that takes effect when the module is imported."""

    path: str
    function: str | None
    source: str
    line: int
    before: str
    after: str


def mutant_of(path: str, function: str | None, source: str, mutated: str) -> Mutant:
    old, new = source.splitlines(), mutated.splitlines()
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    _, first, end, new_first, new_end = next(change for change in changes if change[0] != "equal")
    before = " ".join(line.strip() for line in old[first:end])
    after = " ".join(line.strip() for line in new[new_first:new_end])
    return Mutant(path, function, mutated, first + 1, before, after)
