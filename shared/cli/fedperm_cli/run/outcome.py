"""What a run gave."""

from dataclasses import asdict, dataclass
from typing import Any

from fedperm.privacy.report import PrivacyReport
from fedperm.wire.aggregator import RunState
from fedperm_cli.measures import counted
from fedperm_cli.run.created_pages import privacy_document
from fedperm_cli.run.round_summary import RoundSummary


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """`document` is the SHA-256 of the run's document, `count` the rounds that it asks for; without
    noise there is no `report`."""

    state: RunState
    reason: str
    document: str
    parameters: int
    count: int
    rounds: tuple[RoundSummary, ...]
    report: PrivacyReport | None

    @property
    def completed(self) -> bool:
        """The aggregator's word is believed if all rounds are there."""
        return self.state is RunState.COMPLETED and len(self.rounds) == self.count

    @property
    def verdict(self) -> str:
        if self.completed:
            return f"the run completed after {counted(len(self.rounds), 'round')}"
        if self.state is RunState.COMPLETED:
            return (
                "the run ended early: the aggregator calls it completed after "
                f"{len(self.rounds)} of {counted(self.count, 'round')}"
            )
        return f"the run {self.state}: {self.reason or 'by an operator'}"

    def members(self) -> dict[str, Any]:
        """Of the JSON object that a command prints."""
        return {
            "state": self.state,
            "completed": self.completed,
            "reason": self.reason,
            "document": self.document,
            "parameters": self.parameters,
            "rounds": [asdict(summary) for summary in self.rounds],
            "privacy": privacy_document(self.report),
        }
