"""The client's own account of what it has released. It stops the run.

A round is charged, and the charge is on disk, before the first byte of the round's update leaves.
A damaged ledger is refused, never repaired or started anew.

In its file every line vouches for all lines before it: each carries a hash over the line and the
hash before it, so a changed, missing or torn line is noticed. The file is replaced as a whole
(write, fsync, rename, fsync of the folder), so a crash leaves the old or the new one. What the
chain cannot notice is an older copy of the whole file put back in its place.
"""

import hashlib
import json
import math
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from fedperm.crash_points import persisting
from fedperm.durable_file import locked, write_durably
from fedperm.errors import BudgetError, FedPermError, LedgerError, ParameterError
from fedperm.ids import RoundNumber, RunName
from fedperm.noise.law import exact_delta, sampler_epsilon
from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.windows import Geometry

__all__ = ["Budget", "Charge", "Counting", "Ledger", "read_lines"]

_KIND = "fedperm privacy ledger"
_VERSION = 1
_MAX_ROUNDS_AHEAD = 1 << 12
"""Looking further ahead takes long and helps nobody."""

Line = dict[str, Any]


class Counting(Protocol):
    """The part of an accountant that a ledger needs."""

    @property
    def name(self) -> str: ...

    @property
    def experimental(self) -> bool: ...

    @property
    def reproduction_only(self) -> bool: ...

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee: ...


@dataclass(frozen=True)
class Budget:
    """What the client is willing to spend, counted by the accountant of that name."""

    epsilon: float
    delta: float
    accountant: str

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf and 0 < self.delta < 1):
            raise ParameterError(
                f"a budget of epsilon {self.epsilon}, delta {self.delta}",
                "choose a finite epsilon above 0 and delta between 0 and 1",
            )


@dataclass(frozen=True)
class Charge:
    """One round of one run, and what the client releases in it.

    `digest` is the SHA-256 of the prepared upload, in hexadecimal: the charge is for these bytes.
    `sampler_eta` is the error of one noise draw (`noise.law`).
    """

    run: RunName
    round: RoundNumber
    event: ShuffledLaplace
    digest: str
    sampler_eta: float = 0.0

    @property
    def sampler_epsilon(self) -> float:
        return sampler_epsilon(self.sampler_eta, self.event.geometry.padded_d, 1)


class Ledger:
    """A file of charges that never passes its budget."""

    def __init__(self, path: Path, budget: Budget, accountant: Counting) -> None:
        """Opens the ledger at `path`; a missing file is an error, since it held what was spent."""
        _check_accountant(budget, accountant)
        if not path.exists():
            raise _damaged(path, "the file is missing")
        self.path = path
        self.budget = budget
        self._accountant = accountant
        self.charges()

    @classmethod
    @persisting
    def start(cls, path: Path, budget: Budget, accountant: Counting) -> "Ledger":
        """A new ledger, once, for data of which nothing was released yet."""
        _check_accountant(budget, accountant)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            if path.exists():
                raise LedgerError(f"there is a ledger at {path} already", "open it instead")
            write_durably(path, _chained([_header(budget)]))
        return cls(path, budget, accountant)

    def charges(self) -> tuple[Charge, ...]:
        with _locked(self.path):
            return self._read()

    def spent(self) -> float:
        """Epsilon of everything charged so far, at the budget's delta."""
        return self._epsilon(self.charges())

    @persisting
    def charge(self, charge: Charge) -> None:
        """Charges a round, or refuses it.

        The order that loses nothing: prepare the upload and put it on disk, charge it, send it.
        After a crash the same bytes are charged again, which changes nothing, and sent; other
        bytes for a charged round would be a second release and are refused.
        """
        with _locked(self.path):
            charges = self._read()
            if charge in charges:
                return
            if any((past.run, past.round) == (charge.run, charge.round) for past in charges):
                raise LedgerError(
                    f"round {charge.round} of run {charge.run} was charged for another upload",
                    "send the upload that was prepared then; fresh noise would be a second release",
                )
            self._check_budget(charge, charges)
            lines = [_header(self.budget), *map(asdict, [*charges, charge])]
            write_durably(self.path, _chained(lines))

    def rounds_left(self, event: ShuffledLaplace) -> int:
        """How many more rounds of this event the budget admits."""
        return self._rounds_left(event, self.charges())

    def _rounds_left(self, event: ShuffledLaplace, charges: tuple[Charge, ...]) -> int:
        """Up to _MAX_ROUNDS_AHEAD, by bisection; the noise's own tiny error is left out."""

        def fits(more: int) -> bool:
            return self._total(_counts(charges) + Counter({event: more})) <= self.budget.epsilon

        low, high = 0, _MAX_ROUNDS_AHEAD + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _check_budget(self, charge: Charge, charges: tuple[Charge, ...]) -> None:
        after = self._epsilon((*charges, charge))
        if after <= self.budget.epsilon:
            return
        kinds = len(_counts((*charges, charge)))
        costlier = f" ({kinds} kinds of rounds, which costs more than one kind would)"
        raise BudgetError(
            f"round {charge.round} of run {charge.run} would bring epsilon to {after:.4g}; "
            f"{self._epsilon(charges):.4g} of {self.budget.epsilon:g} is spent "
            f"(delta {self.budget.delta:g}, accountant {self.budget.accountant})",
            f"{self._rounds_left(charge.event, charges)} rounds are left at this noise"
            f"{costlier if kinds > 1 else ''}; nothing was sent or charged",
        )

    def _epsilon(self, charges: tuple[Charge, ...]) -> float:
        extra = sum(charge.sampler_epsilon for charge in charges)
        return self._total(_counts(charges), extra) + extra

    def _total(self, counts: "Counter[ShuffledLaplace]", sampler: float = 0.0) -> float:
        """Rounds of one kind are counted together; different kinds by basic composition.

        Basic composition adds up epsilons and deltas (Dwork and Roth, "The Algorithmic Foundations
        of Differential Privacy", 2014, Theorem 3.16), so the kinds share delta. The kinds and their
        numbers must not be chosen by what earlier rounds showed: counting them together covers
        adaptive data, not adaptive noise.
        """
        delta = exact_delta(self.budget.delta, sampler) / max(1, len(counts))
        return sum(
            self._accountant.guarantee(Rounds(event, count), delta).epsilon
            for event, count in counts.items()
        )

    def _read(self) -> tuple[Charge, ...]:
        header, *lines = read_lines(self.path)
        if header.get("version") != _VERSION:
            raise LedgerError(
                f"{self.path} is a ledger of version {header.get('version')}; this program knows "
                f"version {_VERSION}",
                "start the program that wrote it, or a newer one",
            )
        if header != _header(self.budget):
            raise LedgerError(
                f"{self.path} was started with another budget: {header.get('budget')}",
                "open it with that budget, or keep a new ledger for new data",
            )
        return tuple(_charge(line, self.path) for line in lines)


def _locked(path: Path) -> AbstractContextManager[None]:
    """One process at a time: two must not both see the last affordable round."""
    return locked(path.with_name(path.name + ".lock"))


def _counts(charges: tuple[Charge, ...]) -> "Counter[ShuffledLaplace]":
    return Counter(charge.event for charge in charges)


def _check_accountant(budget: Budget, accountant: Counting) -> None:
    if accountant.name != budget.accountant:
        raise ParameterError(
            f"accountant {accountant.name} for a budget counted by {budget.accountant}",
            "open the ledger with the accountant of its budget",
        )
    if accountant.experimental or accountant.reproduction_only:
        raise ParameterError(
            f"accountant {accountant.name} gives no proved bound for what is released",
            "keep the ledger with another accountant, such as default",
        )


def _header(budget: Budget) -> Line:
    return {"kind": _KIND, "version": _VERSION, "budget": asdict(budget)}


def _charge(line: Line, path: Path) -> Charge:
    try:
        event = line["event"]
        released = ShuffledLaplace(Geometry(**event["geometry"]), event["laplace_scale"])
        return Charge(line["run"], line["round"], released, line["digest"], line["sampler_eta"])
    except (KeyError, TypeError, FedPermError) as error:
        raise _damaged(path, "a line is no charge") from error


def read_lines(path: Path) -> list[Line]:
    """All lines, if the file is byte for byte what `_chained` makes of them."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise _damaged(path, "the file is missing") from error
    lines = [_parse(text, path) for text in content.splitlines()]
    if not lines or _chained(lines) != content:
        raise _damaged(path, "a line does not follow from the lines before it")
    return lines


def _parse(text: bytes, path: Path) -> Line:
    """The line without its hash, which `read_lines` makes anew and compares."""
    try:
        line = json.loads(text)
    except ValueError as error:
        raise _damaged(path, "a line is not JSON") from error
    if not isinstance(line, dict):
        raise _damaged(path, "a line is not an object")
    line.pop("chain", None)
    return line


def _chained(lines: list[Line]) -> bytes:
    """One JSON object a line, each with the hash of the one before and itself."""
    text, digest = b"", ""
    for line in lines:
        link = digest + json.dumps(line, sort_keys=True)
        digest = hashlib.sha256(link.encode()).hexdigest()
        text += json.dumps({**line, "chain": digest}, sort_keys=True).encode() + b"\n"
    return text


def _damaged(path: Path, what: str) -> LedgerError:
    return LedgerError(
        f"the privacy ledger {path} is damaged: {what}",
        "restore it from a backup; it is not started anew, since what was released stays released",
    )
