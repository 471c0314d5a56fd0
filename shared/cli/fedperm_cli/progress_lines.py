"""Facts that a long command tells as it goes: a name and some words a line."""

from collections.abc import Callable

from rich.console import Console

from fedperm.plain_text import one_line

Teller = Callable[[str, str], None]
"""Takes a name and a fact."""


def tell_on(console: Console) -> Teller:
    def tell(name: str, fact: str) -> None:
        console.print(one_line(f"{name:11} {fact}"), soft_wrap=True)

    return tell


def tell_nothing(_name: str, _fact: str) -> None:
    """For programs, who read the end."""
