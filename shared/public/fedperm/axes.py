"""What a run is made of: independent axes, and one table of what does not go together.

Each axis has a registry, so that a document can only name what this program has. Words that are
reserved will mean something one day; until then a document that uses one is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Self

from pydantic import StringConstraints, model_validator

from fedperm.errors import ParameterError
from fedperm.registry import Registry
from fedperm.schemes.registry import SCHEMES
from fedperm.uploads.registry import UPLOAD_FORMS
from fedperm.wire.message import Message

__all__ = ["AUDITS", "AXES", "DEALERS", "KEYS", "PURPOSES", "REFUSALS", "Axes", "Choice"]

Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{0,30}$")]


@dataclass(frozen=True)
class Choice:
    """A value of an axis that needs no code of its own, in words."""

    words: str


AUDITS: Registry[Choice] = Registry(
    "audit",
    {"none": Choice("nobody proves that its masks are permutations")},
    reserved={
        "masks": "a proof that masks are permutations is planned",
        "contributions": "a proof that masks and values make a permutation is planned",
    },
)
KEYS: Registry[Choice] = Registry(
    "way to hold keys",
    {"shared": Choice("every client holds the whole secret key")},
    reserved={"threshold": "keys of which t clients together open a sum are planned"},
)
"""What clients and dealers do with them is `fedperm_secret.custody`."""
DEALERS: Registry[Choice] = Registry(
    "dealer",
    {"keyserver": Choice("an independent key server makes the keys")},
    reserved={"leader": "a client that makes the keys is planned"},
)
PURPOSES: Registry[Choice] = Registry(
    "purpose of the noise",
    {"paper": Choice("Laplace noise for the paper's unit, some parameters of one update")},
    reserved={
        "records": "noise made for one record of a client is planned",
        "clients": "noise made for a whole client is planned",
    },
)

AXES: Mapping[str, Registry[Any]] = {
    "scheme": SCHEMES,
    "uploads": UPLOAD_FORMS,
    "audit": AUDITS,
    "keys": KEYS,
    "dealer": DEALERS,
    "purpose": PURPOSES,
}


@dataclass(frozen=True)
class Refusal:
    """Runs that have all of these values are refused."""

    values: Mapping[str, str]
    reason: str


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        {"uploads": "masks", "keys": "threshold"},
        "members could check what they open only with everybody's values, and values together "
        "with sums undo the shuffle",
    ),
    Refusal({"uploads": "proved", "audit": "none"}, "an upload without masks is its own proof"),
    Refusal({"uploads": "proved", "audit": "masks"}, "there are no masks to audit"),
)
"""The only table of what does not go together."""


class Axes(Message):
    """One word for each axis; the defaults are the paper's own system."""

    scheme: Word = "paillier"
    uploads: Word = "masks"
    audit: Word = "none"
    keys: Word = "shared"
    dealer: Word = "keyserver"
    purpose: Word = "paper"

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        wrong = list(reasons_against(self.model_dump()))
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def reasons_against(values: Mapping[str, str]) -> Iterator[str]:
    """Why a run of these values cannot be; nothing if it can."""
    for axis, registry in AXES.items():
        try:
            registry[values[axis]]
        except ParameterError as error:
            yield str(error)
    for refusal in REFUSALS:
        if all(values[axis] == word for axis, word in refusal.values.items()):
            named = ", ".join(f"{axis} {word}" for axis, word in refusal.values.items())
            yield f"{named}: {refusal.reason}"


def combinations() -> Iterator[dict[str, str]]:
    """Every combination of words that are known, built or reserved."""
    words = [(*registry.names, *registry.reserved) for registry in AXES.values()]
    for chosen in product(*words):
        yield dict(zip(AXES, chosen, strict=True))
