"""What a check found: all well, or what is wrong and how to mend it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fedperm.errors import FedPermError


class State(StrEnum):
    GOOD = "good"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """`hint` says how to mend what failed, or what to give so that a check is made."""

    check: str
    state: State
    words: str
    hint: str = ""


def good(check: str, words: str) -> Finding:
    return Finding(check, State.GOOD, words)


def warned(check: str, words: str, hint: str) -> Finding:
    """It works, and is not as good as it should be."""
    return Finding(check, State.WARNING, words, hint)


def failed(check: str, words: str, hint: str) -> Finding:
    return Finding(check, State.FAILED, words, hint)


def skipped(check: str, words: str, hint: str) -> Finding:
    return Finding(check, State.SKIPPED, words, hint)


def found_by(check: str, look: Callable[[], str]) -> Finding:
    """`look` says what is well, or raises."""
    try:
        return good(check, look())
    except FedPermError as error:
        return failed(check, error.message, error.hint)
