"""The client's privacy ledger: opened with its state, charged before anything leaves.

A ledger is started together with the client's keys and never again: a state directory without
its ledger has released who knows what.
"""

from dataclasses import dataclass

from fedperm.ids import RoundNumber, RunName
from fedperm.noise.law import NoiseSampler, exact_delta, sampler_epsilon
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.ledger import Charge, Ledger
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.unshuffled import whole_update
from fedperm.wire.aggregator import LedgerReport
from fedperm.wire.digest import sha256_of
from fedperm_client.ceilings import Ceilings
from fedperm_client.errors import StateError
from fedperm_client.outbox import PreparedSubmission
from fedperm_client.state_directory import StateDirectory


def open_ledger(state: StateDirectory, ceilings: Ceilings) -> Ledger | None:
    """None if the owner accepts that nothing is counted. To be called before keys are made."""
    budget = ceilings.budget
    if budget is None:
        if state.ledger.exists():
            raise StateError(
                f"{state.path} keeps a privacy ledger, which would miss what is released uncounted",
                "use another state directory for runs without privacy",
            )
        return None
    accountant = accountant_named(budget.accountant)
    if state.keys.exists() or state.ledger.exists():
        return Ledger(state.ledger, budget, accountant)
    return Ledger.start(state.ledger, budget, accountant)


@dataclass(frozen=True)
class RunLedger:
    """One run's part of the ledger."""

    ledger: Ledger
    run: RunName
    event: ShuffledLaplace
    noise: NoiseSampler

    def charge(self, upload: PreparedSubmission) -> None:
        """For these very bytes; charging them again after a crash changes nothing."""
        digest = sha256_of(upload.read())
        self.ledger.charge(Charge(self.run, upload.round, self.event, digest, self.noise.eta))

    def has_charged(self, number: RoundNumber) -> bool:
        """Whether an update of this round may have left."""
        return any((one.run, one.round) == (self.run, number) for one in self.ledger.charges())

    def report(self) -> LedgerReport:
        """For the run's operator: it holds nothing that depends on data."""
        budget, whole = self.ledger.budget, 0.0
        charges = sum(one.run == self.run for one in self.ledger.charges())
        if charges > 0:
            extra = sampler_epsilon(self.noise.eta, self.event.geometry.padded_d, charges)
            delta = exact_delta(budget.delta, extra)
            whole = whole_update(Rounds(self.event, charges), delta) + extra
        return LedgerReport(
            epsilon=self.ledger.spent(),
            budget=budget.epsilon,
            delta=budget.delta,
            accountant=budget.accountant,
            charges=charges,
            whole_update=whole,
        )
