"""The client's own account of what it has released. It stops the run.

A round is charged, and the charge is on disk, before the first byte of the round's update leaves.
A damaged ledger is refused, never repaired or started anew (see `ledger_file`).
"""

import fcntl
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from fedperm.errors import BudgetError, FedPermError, LedgerError, ParameterError
from fedperm.privacy.accountant import Guarantee
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.ledger_file import Line, damaged, read_lines, write_lines
from fedperm.windows import Geometry

_KIND = "fedperm privacy ledger"
_MOST_ROUNDS = 1 << 20


class Counting(Protocol):
    """The part of an accountant that a ledger needs."""

    @property
    def name(self) -> str: ...

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee: ...


@dataclass(frozen=True)
class Budget:
    """What the client is willing to spend, counted by the accountant of that name."""

    epsilon: float
    delta: float
    accountant: str

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 0 < self.delta < 1):
            raise ParameterError(
                f"a budget of epsilon {self.epsilon}, delta {self.delta}",
                "choose epsilon above 0 and delta between 0 and 1",
            )


@dataclass(frozen=True)
class Charge:
    """One round of one run, and what the client releases in it."""

    run: str
    round: int
    event: ShuffledLaplace


class Ledger:
    """A file of charges that never passes its budget."""

    def __init__(self, path: Path, budget: Budget, accountant: Counting) -> None:
        """Opens the ledger at `path`; a missing file is an error, since it held what was spent."""
        if accountant.name != budget.accountant:
            raise ParameterError(
                f"accountant {accountant.name} for a budget counted by {budget.accountant}",
                "open the ledger with the accountant of its budget",
            )
        if not path.exists():
            raise damaged(path, "the file is missing")
        self.path = path
        self.budget = budget
        self._accountant = accountant
        self.charges()

    @classmethod
    def start(cls, path: Path, budget: Budget, accountant: Counting) -> "Ledger":
        """A new ledger, once, for data of which nothing was released yet."""
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

    def charge(self, charge: Charge) -> None:
        """Charges a round, or refuses it. Charging the same round again changes nothing:
        a retry sends the same bytes, which is no second release."""
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
        def fits(more: int) -> bool:
            return self._fits(_counts(charges) + Counter({event: more}))

        if not fits(1):
            return 0
        low, high = 1, 2
        while high <= _MOST_ROUNDS and fits(high):
            low, high = high, 2 * high
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
                f"{self._rounds_left(charge.event, charges)} rounds are left at this noise; "
                "nothing was sent or charged",
            )

    def _fits(self, counts: "Counter[ShuffledLaplace]") -> bool:
        return self._total(counts) <= self.budget.epsilon

    def _epsilon(self, charges: tuple[Charge, ...]) -> float:
        return self._total(_counts(charges))

    def _total(self, counts: "Counter[ShuffledLaplace]") -> float:
        """Rounds of one kind are counted together; different kinds by basic composition."""
        return sum(
            self._guarantee(Rounds(event, count), len(counts)).epsilon
            for event, count in counts.items()
        )

    def _guarantee(self, rounds: Rounds, kinds: int) -> Guarantee:
        return self._accountant.guarantee(rounds, self.budget.delta / kinds)

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
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _counts(charges: tuple[Charge, ...]) -> "Counter[ShuffledLaplace]":
    return Counter(charge.event for charge in charges)


def _check_new(charge: Charge, charges: tuple[Charge, ...]) -> None:
    if any((past.run, past.round) == (charge.run, charge.round) for past in charges):
        raise LedgerError(
            f"round {charge.round} of run {charge.run} was charged with other parameters",
            "resend the prepared update; fresh noise would be a second release",
        )


def _header(budget: Budget) -> Line:
    return {"kind": _KIND, "version": 1, "budget": asdict(budget)}


def _line(charge: Charge) -> Line:
    return asdict(charge)


def _charge(line: Line, path: Path) -> Charge:
    try:
        event = line["event"]
        released = ShuffledLaplace(Geometry(**event["geometry"]), event["laplace_scale"])
        return Charge(line["run"], line["round"], released)
    except (KeyError, TypeError, FedPermError) as error:
        raise damaged(path, "a line is no charge") from error
