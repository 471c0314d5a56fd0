"""The client's own account of what it has released. It stops the run.

A round is charged, and the charge is on disk, before the first byte of the round's update leaves.
A damaged ledger is refused, never repaired or started anew (see `ledger_file`).
"""

import fcntl
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from fedperm.crash_points import persisting
from fedperm.errors import BudgetError, FedPermError, LedgerError, ParameterError
from fedperm.noise.law import sampler_epsilon
from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.ledger_file import Line, damaged, read_lines, write_lines
from fedperm.windows import Geometry

_KIND = "fedperm privacy ledger"
_MOST_ROUNDS = 1 << 12
"""Looking further ahead takes long and helps nobody."""


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

    run: str
    round: int
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
            raise damaged(path, "the file is missing")
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
            write_lines(path, [_header(budget)])
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
            _check_new(charge, charges)
            self._check_budget(charge, charges)
            lines = [_header(self.budget), *map(_line, [*charges, charge])]
            write_lines(self.path, lines)

    def rounds_left(self, event: ShuffledLaplace) -> int:
        """How many more rounds of this event the budget admits."""
        return self._rounds_left(event, self.charges())

    def _rounds_left(self, event: ShuffledLaplace, charges: tuple[Charge, ...]) -> int:
        """Up to _MOST_ROUNDS, by bisection; the noise's own tiny error is left out."""

        def fits(more: int) -> bool:
            return self._total(_counts(charges) + Counter({event: more})) <= self.budget.epsilon

        low, high = 0, _MOST_ROUNDS + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _check_budget(self, charge: Charge, charges: tuple[Charge, ...]) -> None:
        after = self._epsilon((*charges, charge))
        if after > self.budget.epsilon:
            raise BudgetError(
                f"round {charge.round} of run {charge.run} would bring epsilon to {after:.4g}; "
                f"{self._epsilon(charges):.4g} of {self.budget.epsilon:g} is spent "
                f"(delta {self.budget.delta:g}, accountant {self.budget.accountant})",
                f"{self._rounds_left(charge.event, charges)} rounds are left at this noise"
                f"{_kinds_words(_counts((*charges, charge)))}; nothing was sent or charged",
            )

    def _epsilon(self, charges: tuple[Charge, ...]) -> float:
        extra = sum(charge.sampler_epsilon for charge in charges)
        return self._total(_counts(charges), extra) + extra

    def _total(self, counts: "Counter[ShuffledLaplace]", sampler: float = 0.0) -> float:
        """Rounds of one kind are counted together; different kinds by basic composition.

        The kinds and their numbers must not be chosen by what earlier rounds showed: counting
        them together covers adaptive data, not adaptive noise.
        """
        delta = self.budget.delta * math.exp(-sampler / 2) / max(1, len(counts))
        return sum(
            self._accountant.guarantee(Rounds(event, count), delta).epsilon
            for event, count in counts.items()
        )

    def _read(self) -> tuple[Charge, ...]:
        header, *lines = read_lines(self.path)
        if header != _header(self.budget):
            raise LedgerError(
                f"{self.path} was started with another budget: {header.get('budget')}",
                "open it with that budget, or keep a new ledger for new data",
            )
        return tuple(_charge(line, self.path) for line in lines)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time: two must not both see the last affordable round."""
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _counts(charges: tuple[Charge, ...]) -> "Counter[ShuffledLaplace]":
    return Counter(charge.event for charge in charges)


def _kinds_words(counts: "Counter[ShuffledLaplace]") -> str:
    if len(counts) == 1:
        return ""
    return f" ({len(counts)} kinds of rounds, which costs more than one kind would)"


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


def _check_new(charge: Charge, charges: tuple[Charge, ...]) -> None:
    if any((past.run, past.round) == (charge.run, charge.round) for past in charges):
        raise LedgerError(
            f"round {charge.round} of run {charge.run} was charged for another upload",
            "send the upload that was prepared then; fresh noise would be a second release",
        )


def _header(budget: Budget) -> Line:
    return {"kind": _KIND, "version": 1, "budget": asdict(budget)}


def _line(charge: Charge) -> Line:
    return asdict(charge)


def _charge(line: Line, path: Path) -> Charge:
    try:
        event = line["event"]
        released = ShuffledLaplace(Geometry(**event["geometry"]), event["laplace_scale"])
        return Charge(line["run"], line["round"], released, line["digest"], line["sampler_eta"])
    except (KeyError, TypeError, FedPermError) as error:
        raise damaged(path, "a line is no charge") from error
